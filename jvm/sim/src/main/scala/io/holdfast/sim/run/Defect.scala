package io.holdfast.sim.run

import io.holdfast.sim.world.{Plan, SimRandom, Storage}

/** Something that is made wrong on purpose, for the simulator to find. */
abstract class Defect(val name: String) {

  /** What the file system is like, if that is what is wrong. */
  def storage: Option[Storage] = None

  /** What a history is about in which there is the defect. */
  def plan(plan: Plan): Plan = plan

  /** What becomes of the bytes that are written into a file. */
  def written(path: String, bytes: Array[Byte], random: SimRandom): Array[Byte] = {
    val _ = path
    if (bytes.nonEmpty && shareCut > 0 && random.chance(shareCut))
      bytes.take(random.below(bytes.length))
    else bytes
  }

  /** What a task says of how many attempts at it there were before. */
  def attemptNumber(number: Int): Int = number

  /** How many of the files lack their end. */
  protected def shareCut: Double = 0.0

  /** Whether a file that is deleted goes. */
  def deletes(path: String): Boolean = !path.endsWith(stays)

  /** How the names of files end that cannot be deleted. */
  protected def stays: String = "no such file"

  /** Whether a file that is deleted takes those of the next version with it. */
  def deletesTooMuch: Boolean = false

  /** Whether a file that is finished appears. */
  def appears(path: String, random: SimRandom): Boolean =
    shareLost == 0 || !path.endsWith(".delta") || !random.chance(shareLost)

  /** How many of the deltas that are finished do not appear. */
  protected def shareLost: Double = 0.0
}

object Defect {

  /** Files are written under their own names. */
  case object MissingRename extends Defect("missing-rename") {
    override def storage: Option[Storage] = Some(Storage.InPlace)
  }

  /** Cleanup goes one version too far. */
  case object EagerCleanup extends Defect("eager-cleanup") {
    override def deletesTooMuch: Boolean = true
  }

  /** The snapshot of an attempt that was replaced stays. */
  case object SnapshotOfWrongAttempt extends Defect("snapshot-of-wrong-attempt") {
    override protected def stays: String = ".snapshot"
  }

  /** Every task passes for one that is tried again. So of several attempts with ids that succeed the last
    * one keeps the place in memory, and has the snapshot, and the commit log has the first.
    */
  case object SnapshotOfUncountedAttempt extends Defect("snapshot-of-uncounted-attempt") {
    override def attemptNumber(number: Int): Int = number + 1
  }

  /** A commit is acknowledged, and its delta is not there. */
  case object LostDelta extends Defect("lost-delta") {
    override protected def shareLost: Double = 0.02
  }

  /** The end of a file is missing. */
  case object CutFile extends Defect("cut-file") {
    override protected def shareCut: Double = 0.02
  }

  /** @throws IllegalArgumentException
    *   if there is none of that name
    */
  def named(name: String): Defect = all
    .find(_.name == name)
    .getOrElse(throw new IllegalArgumentException(
      s"no defect is called $name: there are ${all.map(_.name).mkString(", ")}"))

  val all: Vector[Defect] = Vector(
    MissingRename,
    EagerCleanup,
    SnapshotOfWrongAttempt,
    SnapshotOfUncountedAttempt,
    LostDelta,
    CutFile,
    FamilyDefect.SurvivingFamily,
    FamilyDefect.ForgottenRedefinition,
    FamilyDefect.MissingDefinition,
    FamilyDefect.TurnedLists)
}
