package io.holdfast.sim.world

/** What a batch does to a store. */
trait Changes {

  /** Whether what it puts is all there is afterwards. */
  def replaces: Boolean

  /** Until when rows are said to have expired, if the operator says so. */
  def expired: Option[Long]

  /** What an attempt does, if attempts differ. */
  def salted(salt: Long): Changes
}

/** What a batch does to a store without column families.
  *
  * @param expired
  *   rows up to this time have expired after the others were put
  * @param renews
  *   whether some of those that have expired get a new time; the others are removed
  * @param replaces
  *   whether the rows put are all there are afterwards
  */
final case class RowChanges(
    puts: Vector[(Key, Value)],
    removes: Vector[Key],
    expired: Option[Long],
    replaces: Boolean,
    renews: Boolean)
    extends Changes {

  override def salted(salt: Long): RowChanges =
    copy(puts = puts.map { case (key, value) => key -> value.copy(count = value.count + salt) })

  def applyTo(content: Map[Key, Value]): Map[Key, Value] = {
    val base: Map[Key, Value] = if (replaces) Map.empty else content
    val changed = (base ++ puts) -- removes
    expired.fold(changed)(at =>
      changed.flatMap { case (key, value) =>
        if (value.time > at) Some(key -> value) else renewed(key, value, at).map(key -> _)
      })
  }

  /** What becomes of a row that has expired; nothing if it is removed. */
  def renewed(key: Key, value: Value, at: Long): Option[Value] =
    if (renews && key.id % 2 == 0) Some(Value(value.count + 1, at + 1)) else None
}

/** The changes of a batch by store. */
final case class Batch(number: Long, changes: Map[StoreKey, Changes])

object Batch {

  /** @param stores
    *   what they hold when the batch begins
    */
  def of(
      number: Long,
      stores: Vector[(StoreKey, Content)],
      plan: Plan,
      random: SimRandom): Batch = {
    val replaces = random.chance(plan.replacements)
    val made = stores.map { case (store, content) =>
      store -> ((plan.families, content) match {
        case (Some(families), base: FamilyContents) =>
          FamilyBatch.of(number, base, plan, families, replaces, random)
        case _ => changes(number, plan, random, replaces)
      })
    }
    Batch(number, made.toMap)
  }

  // Later batches put later times, so that what expires is old.
  private def changes(
      number: Long,
      plan: Plan,
      random: SimRandom,
      replaces: Boolean): RowChanges = {
    val size = if (random.chance(0.1)) plan.keys else random.below(plan.keys / 2 + 1)
    val touched = Vector.fill(if (random.chance(0.1)) 0 else size)(key(plan, random)).distinct
    val onlyRemovals = !replaces && random.chance(0.1)
    val (removes, puts) = touched.partition(_ => onlyRemovals || random.chance(0.2))
    RowChanges(
      puts.map(_ -> Value(random.below(1000).toLong * 1000, number * 10 + random.below(20))),
      if (replaces) Vector.empty else removes,
      if (!replaces && random.chance(0.4)) Some(number * 10 - random.below(30)) else None,
      replaces,
      renews = plan.pattern == Pattern.Groups)
  }

  private def key(plan: Plan, random: SimRandom): Key = {
    val number = random.below(plan.keys)
    Key((number % 5).toLong, number.toLong)
  }
}
