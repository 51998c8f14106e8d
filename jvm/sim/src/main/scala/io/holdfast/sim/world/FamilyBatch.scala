package io.holdfast.sim.world

import io.holdfast.sim.world.Call._

/** What a batch does to a store with column families.
  *
  * @param salt
  *   by how much values differ from those of other attempts
  */
final case class FamilyBatch(calls: Vector[Call], replaces: Boolean, salt: Long = 0L)
    extends Changes {
  override def expired: Option[Long] = None
  override def salted(salt: Long): FamilyBatch = copy(salt = salt)
}

object FamilyBatch {

  /** @param base
    *   the families of the version that the batch starts from
    */
  def of(
      number: Long,
      base: FamilyContents,
      plan: Plan,
      families: FamilyPlan,
      replaces: Boolean,
      random: SimRandom): FamilyBatch =
    new FamilyCalls(number, base, plan, families, replaces, random).batch
}

/** Makes up a batch. */
private final class FamilyCalls(
    number: Long,
    base: FamilyContents,
    plan: Plan,
    families: FamilyPlan,
    replaces: Boolean,
    random: SimRandom) {
  import FamilyCalls._

  private[this] val keys = math.min(plan.keys, MostKeys)
  private[this] val known: Map[String, FamilyKind] =
    families.all.toMap ++ (if (replaces) Map.empty[String, FamilyKind]
                           else base.byName.map(f => f._1 -> f._2.kind)) +
      (FamilyContents.Default -> families.default)
  // Those that are there or will be, but for the ones that have calls of their own.
  private[this] val names: Vector[String] =
    known.keySet.diff(Reserved).toVector.sorted ++
      (if (random.chance(0.1)) FamilyPlan.Free else Vector.empty)

  def batch: FamilyBatch = {
    val size = if (random.chance(0.1)) 0 else random.below(2 * keys + 4)
    val calls = Vector.fill(size)(call())
    val cycles = if (random.chance(families.lifeCycles)) random.between(1, 3) else 0
    val changed = (0 until cycles).foldLeft(calls) { (calls, _) =>
      val at = random.below(calls.size + 1)
      calls.take(at) ++ lifeCycle() ++ calls.drop(at)
    }
    FamilyBatch(definitions() ++ changed, replaces)
  }

  // Operators define what they know in each task; a store that was loaded knows it without.
  private[this] def definitions(): Vector[Call] =
    if (number == 0 || replaces || random.chance(0.7))
      families.all.map { case (name, _) => Define(name, known(name)) }
    else Vector.empty

  private[this] def call(): Call = random.below(100) match {
    case n if n < 12 && families.expires => Keep(random.below(keys).toLong, value())
    case n if n < 14 && families.expires => Expire(number * 10 - random.below(30))
    case n if n < 24 && families.timers => SetTimer(random.below(keys).toLong, time())
    case n if n < 26 && families.timers => ClearTimers(random.below(keys).toLong)
    case n if n < 28 && families.timers => Fire(number * 10 - random.below(30))
    case n => change(random.oneOf(names), n)
  }

  private[this] def change(name: String, chosen: Int): Call = {
    val mayBeList = known.get(name).forall(_.lists) != random.chance(0.02)
    chosen match {
      case n if n < 65 && mayBeList => Append(name, key(), values())
      case n if n < 72 && mayBeList => PutList(name, key(), values())
      case n if n < 80 => Put(name, key(), value())
      case n if n < 90 => Remove(name, key())
      case n if n < 92 => RemoveGroup(name, random.below(Groups).toLong)
      case n if n < 94 => range(RemoveRange(name, _, _))
      case n if n < 96 => LookAtGroup(name, random.below(Groups).toLong)
      case n if n < 97 => range(LookAtRange(name, _, _))
      case n if n < 99 => Walk(name)
      case _ => Hold(name)
    }
  }

  private[this] def lifeCycle(): Vector[Call] = {
    val name = random.oneOf(names)
    val other = random.oneOf(FamilyPlan.Free)
    random.below(9) match {
      case 0 => Vector(Define(name, FamilyKind.any(random)))
      case 1 => Vector(Drop(name))
      case 2 => (Drop(name) +: defined(name)) ++ filled(name)
      case 3 => (Empty(name) +: defined(name)) ++ filled(name)
      case 4 => filled(name) ++ (Empty(name) +: defined(name))
      case 5 => (Drop(name) +: defined(other)) ++ filled(other)
      case 6 => defined(other) ++ filled(other) :+ Drop(other)
      case 7 => Vector(Define(name, wider(name))) ++ filled(name)
      // Perhaps as it was.
      case _ => Vector(Drop(name), Define(name, known.getOrElse(name, families.default)))
    }
  }

  private[this] def wider(name: String): FamilyKind = {
    val kind = known.getOrElse(name, FamilyKind.any(random))
    kind.copy(wide = !kind.wide)
  }

  private[this] def defined(name: String): Vector[Call] =
    Vector(Define(name, FamilyKind.any(random)))

  private[this] def filled(name: String): Vector[Call] =
    Vector.fill(random.below(6))(
      if (random.chance(0.5)) Put(name, key(), value()) else Append(name, key(), values()))

  private[this] def range(make: (Key, Key) => Call): Call = {
    val group = random.below(Groups).toLong
    val times = keys / Groups + 2
    val from = random.below(times) - Negative
    make(Key(group, from), Key(group, from + random.below(times)))
  }

  private[this] def key(): Key = {
    val number = random.below(keys)
    Key((number % Groups).toLong, number / Groups - Negative)
  }

  // Now and then more than fit into a part of a list.
  private[this] def values(): Vector[Value] = {
    val count =
      if (random.chance(0.1)) random.below(60)
      else if (random.chance(0.5)) 1
      else random.below(4)
    Vector.fill(count)(value())
  }

  private[this] def value(): Value = Value(random.below(1000).toLong * 1000, time())

  private[this] def time(): Long = number * 10 + random.below(20)
}

private object FamilyCalls {
  private val MostKeys = 40
  private val Groups = 5

  // Some times are before 1970.
  private val Negative = 3L

  private val Reserved =
    Set(FamilyPlan.Kept, FamilyPlan.KeptUntil, FamilyPlan.TimersOfKeys, FamilyPlan.TimersInOrder)
}
