package io.holdfast.sim.world

/** How often each thing goes wrong: probabilities at each operation on a file.
  *
  * @param error
  *   the operation fails
  * @param lostAnswer
  *   it is done and says that it has failed
  * @param crash
  *   the process dies
  * @param powerLoss
  *   how many of these deaths take all processes with them, and what the disk has not written yet
  * @param storm
  *   for a while an object store answers nothing but 503
  * @param fullDisk
  *   for a while nothing more can be written
  * @param forbidden
  *   for a while a process may touch no file
  * @param reset
  *   a connection is reset in the middle of a file that is read
  * @param shortReads
  *   whether reads give less than was asked for
  * @param slowMillis
  *   how long reads and writes may take
  * @param lateListingMillis
  *   how long listings may lack what has changed
  * @param unsyncedMillis
  *   how long the disk may take to write what it was given
  */
final case class Faults(
    error: Double,
    lostAnswer: Double,
    crash: Double,
    powerLoss: Double,
    storm: Double,
    fullDisk: Double,
    forbidden: Double,
    reset: Double,
    shortReads: Boolean,
    slowMillis: Int,
    lateListingMillis: Int,
    unsyncedMillis: Int)

object Faults {
  val None: Faults = Faults(
    error = 0,
    lostAnswer = 0,
    crash = 0,
    powerLoss = 0,
    storm = 0,
    fullDisk = 0,
    forbidden = 0,
    reset = 0,
    shortReads = false,
    slowMillis = 0,
    lateListingMillis = 0,
    unsyncedMillis = 0)

  /** Those of a history: some kinds, so that none hides what another would show. */
  def of(storage: Storage, random: SimRandom): Faults = {
    def some(share: Double, rates: Double*): Double =
      if (random.chance(share)) random.oneOf(rates.toVector) else 0.0
    if (random.chance(0.1)) None
    else {
      val crash = some(0.5, 0.002, 0.005, 0.02)
      val losesPower = crash > 0 && random.chance(0.2)
      Faults(
        error = some(0.3, 0.003, 0.01, 0.03),
        lostAnswer = some(0.3, 0.003, 0.01, 0.03),
        crash = crash,
        powerLoss = if (losesPower) 0.3 else 0.0,
        storm = some(0.15, 0.003),
        fullDisk = some(0.15, 0.003),
        forbidden = some(0.15, 0.003),
        reset = some(0.2, 0.02, 0.1),
        shortReads = random.chance(0.3),
        slowMillis = if (random.chance(0.1)) random.oneOf(Vector(10, 10000, 600000)) else 0,
        lateListingMillis = if (random.chance(0.1)) random.between(1, 50) else 0,
        // What an object store has acknowledged stays.
        unsyncedMillis =
          if (losesPower && storage != Storage.Objects && random.chance(0.5))
            random.between(1, 300)
          else 0)
    }
  }
}
