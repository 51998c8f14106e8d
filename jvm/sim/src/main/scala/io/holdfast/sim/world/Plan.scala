package io.holdfast.sim.world

/** What a file system is like. */
sealed trait Storage

object Storage {

  /** A rename replaces what is there, in one moment: local disks, HDFS. */
  case object Renames extends Storage

  /** A rename over a file removes it first: some local and mounted file systems. */
  case object RenamesInTwoSteps extends Storage

  /** No rename: a file is there, whole, when its upload is complete. */
  case object Objects extends Storage

  /** A file is there from its beginning and grows: a planted defect, and no file system. */
  case object InPlace extends Storage

  val all: Vector[Storage] = Vector(Renames, RenamesInTwoSteps, Objects)
}

/** How an operator uses its stores. */
sealed trait Pattern

object Pattern {

  /** Reads in one store, then writes in another of the same version; may walk over all rows in the end. */
  case object Aggregation extends Pattern

  /** Puts what it does not find; walks in order to expire. */
  case object Deduplication extends Pattern

  /** Finds the rows of a group by the prefix of their keys. */
  case object Sessions extends Pattern

  /** Puts what it finds anew, and in a walk over all rows removes some that have expired and renews the
    * others, as a function with timeouts does.
    */
  case object Groups extends Pattern

  /** Two stores in a task, committed one after the other. */
  case object Join extends Pattern

  val all: Vector[Pattern] = Vector(Aggregation, Deduplication, Sessions, Groups, Join)
}

/** What a history is about. All of it follows from the seed; each history has some kinds of trouble and
  * not others, so that none hides what another would show.
  *
  * @param attemptsDiffer
  *   whether attempts at the same version put different rows. In format 1 that has a right answer only
  *   where one process writes at a time, so there is one executor then
  * @param keys
  *   how many there are: one for an operator that has one row, such as a limit
  * @param refusingLog
  *   whether a batch that is in the commit log cannot be written there again: not where an object store
  *   has no conditional writes
  * @param families
  *   the column families of its stores, if they have some. Stores are opened as the pattern says, and
  *   what is done in them is said by the families
  * @param actions
  *   how many jobs compute each batch, one after the other, as a `foreachBatch` does that uses its frame so
  *   often
  * @param longEnd
  *   whether the query goes on without trouble until no file of before is needed any more
  * @param setBacks
  *   how often its user sets the query back: gives up its newest batches, and goes on from an older one
  */
final case class Plan(
    format: Int,
    storage: Storage,
    pattern: Pattern,
    partitions: Int,
    executors: Int,
    attemptsDiffer: Boolean,
    batches: Int,
    retained: Int,
    inMemory: Int,
    minDeltas: Option[Int],
    codec: String,
    rowChecksums: Boolean,
    fileChecksums: Boolean,
    repair: Boolean,
    keys: Int,
    noteBytes: Int,
    hints: Boolean,
    memoryLimit: Option[Long],
    zombies: Boolean,
    speculation: Double,
    lostResults: Double,
    forcedSnapshots: Double,
    replacements: Double,
    aborts: Double,
    interleaving: Double,
    unloading: Double,
    refusingLog: Boolean,
    faults: Faults,
    families: Option[FamilyPlan],
    actions: Int,
    longEnd: Boolean,
    setBacks: Double) {

  def storeNames: Vector[String] =
    if (pattern == Pattern.Join) Vector("left-keyToNumValues", "left-keyWithIndexToValue")
    else Vector("default")

  /** How many deltas there are before maintenance writes a snapshot. By default they must also cost as
    * much to read as the snapshot, which those do that are so small.
    */
  def mostDeltas: Int = minDeltas.getOrElse(Plan.DefaultMinDeltas)

  /** Whether of several attempts at a version that put different rows the last one replaces the file. */
  def attemptsReplace: Boolean = format == 1 && attemptsDiffer

  /** What version 0 of a store holds. */
  def nothing: Content =
    if (families.isDefined) FamilyContents.none else RowContent(Map.empty)
}

object Plan {

  def of(random: SimRandom): Plan = {
    val format = if (random.chance(0.5)) 1 else 2
    val alone = random.chance(0.4)
    // Where one attempt is replaced by another in two steps, who fails in between loses it. So in format 1
    // nobody may be late, as attempts in other executors are, and no two at work at the same time.
    val storages =
      if (alone || format == 2) Storage.all else Storage.all.filter(_ != Storage.RenamesInTwoSteps)
    val storage = random.oneOf(storages)
    val mayLoseAttempts = format == 1 && storage == Storage.RenamesInTwoSteps
    val faults = Faults.of(storage, random)
    val made = Plan(
      format = format,
      storage = storage,
      pattern = random.oneOf(Pattern.all),
      partitions = random.between(1, 2),
      executors = if (alone) 1 else random.between(2, 3),
      attemptsDiffer =
        // A machine that forgets an attempt may show the one before.
        if (format == 2) random.chance(0.7)
        else alone && random.chance(0.7) && faults.unsyncedMillis == 0,
      batches = random.between(3, 14),
      retained = random.between(1, 5),
      inMemory = random.between(0, 3),
      minDeltas = if (random.chance(0.3)) None else Some(random.between(1, 4)),
      codec = random.oneOf(Codecs),
      rowChecksums = random.chance(0.3),
      fileChecksums = random.chance(0.5),
      repair = random.chance(0.5),
      keys = random.oneOf(Vector(1, 4, 12, 40, 150)),
      noteBytes = random.oneOf(Vector(0, 0, 20, 400)),
      hints = random.chance(0.5),
      memoryLimit = if (random.chance(0.15)) Some(random.between(8, 200) * 1024L) else None,
      zombies = !alone && random.chance(0.6),
      speculation = if (random.chance(0.5) && !mayLoseAttempts) 0.2 else 0.0,
      lostResults = if (random.chance(0.5)) 0.1 else 0.0,
      forcedSnapshots = if (random.chance(0.4)) 0.3 else 0.0,
      replacements = if (format == 1 && random.chance(0.15)) 0.1 else 0.0,
      aborts = if (random.chance(0.3)) 0.1 else 0.0,
      interleaving = random.oneOf(Vector(0.0, 0.05, 0.2)),
      unloading = random.oneOf(Vector(0.0, 0.5)),
      refusingLog = storage != Storage.Objects || random.chance(0.5),
      faults = faults,
      // Last, so that seeds of histories without are what they were before there were some.
      families = if (random.chance(0.4)) Some(FamilyPlan.of(random)) else None,
      actions = 1,
      longEnd = false,
      setBacks = 0.0)
    // For the same reason behind that.
    val actions = if (random.chance(0.2)) random.between(2, 3) else 1
    val longEnd = actions > 1 || random.chance(0.05)
    // A machine that forgets files may show those of the run before, where they have the same names.
    val maySetBack = format == 2 || faults.unsyncedMillis == 0
    made.copy(
      actions = actions,
      longEnd = longEnd,
      setBacks = if (random.chance(0.2) && maySetBack) 0.05 else 0.0)
  }

  // Spark's `spark.sql.streaming.stateStore.minDeltasForSnapshot`.
  private val DefaultMinDeltas = 10

  private val Codecs = Vector("lz4", "lz4", "lz4", "lz4", "snappy", "lzf", "zstd")
}
