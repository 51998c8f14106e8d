package io.holdfast.sim.world

/** What the column families of a history are.
  *
  * @param default
  *   what the one is that every store has
  * @param usual
  *   what the operator's user defines
  * @param lifeCycles
  *   how often, in a batch, families come, go, or become others
  * @param expires
  *   whether a variable has values that expire, with an index of their times
  * @param timers
  *   whether there are timers
  * @param evolves
  *   whether values may get other columns while there are some
  */
final case class FamilyPlan(
    default: FamilyKind,
    usual: Vector[(String, FamilyKind)],
    lifeCycles: Double,
    expires: Boolean,
    timers: Boolean,
    evolves: Boolean) {

  /** Families that the operator defines for itself and for its user. */
  def all: Vector[(String, FamilyKind)] =
    usual ++ (if (expires) FamilyPlan.Expiring else Vector.empty) ++
      (if (timers) FamilyPlan.Timers else Vector.empty)
}

object FamilyPlan {

  /** A variable whose values expire, and the index of when they do. */
  val Kept = "kept"
  val KeptUntil = "$ttl_kept"

  /** Timers by their key, and by their time. */
  val TimersOfKeys = "$timers_ofKeys"
  val TimersInOrder = "$timers_inOrder"

  /** Names that nothing has at first. */
  val Free: Vector[String] = Vector("another", "more")

  private val Expiring = Vector(
    Kept -> FamilyKind(Scan.Keys, lists = false),
    KeptUntil -> FamilyKind(Scan.Times, lists = false))

  private val Timers = Vector(
    TimersOfKeys -> FamilyKind(Scan.Groups, lists = false),
    TimersInOrder -> FamilyKind(Scan.Times, lists = false))

  private val Variables = Vector(
    "value" -> FamilyKind(Scan.Keys, lists = false),
    "list" -> FamilyKind(Scan.Keys, lists = true),
    "map" -> FamilyKind(Scan.Groups, lists = false))

  def of(random: SimRandom): FamilyPlan = {
    val others = Vector("one", "$own").filter(_ => random.chance(0.5))
    FamilyPlan(
      FamilyKind(Scan.Keys, lists = random.chance(0.5)),
      Variables.filter(_ => random.chance(0.7)) ++ others.map(_ -> FamilyKind.any(random)),
      lifeCycles = random.oneOf(Vector(0.0, 0.3, 0.8)),
      expires = random.chance(0.5),
      timers = random.chance(0.5),
      evolves = random.chance(0.3))
  }
}
