package io.holdfast.sim.run

import scala.collection.mutable

import io.holdfast.sim.world.{Batch, StoreKey}

/** A run of the query: plans a batch, has its tasks attempted until each has succeeded, and writes the
  * commit log, which refuses a batch that it has. Of the attempts at a task the first answer counts.
  *
  * A batch may be computed by several jobs: each begins when all tasks of the one before have succeeded,
  * and what the first one has answered is what the commit log gets, as with Spark
  * (`StateStoreWriter.getStateStoreCheckpointInfo`).
  */
final class Driver(world: World, val run: Int) {
  import Driver.Answer

  val name = s"run-$run"
  private[this] var current = Option.empty[Running]
  private[this] var home = Option.empty[SimExecutor]

  /** How often tasks of the batch have failed. */
  def failures: Int = current.fold(0)(_.failures)

  /** Whether a job of the batch has succeeded and another one is to come. */
  def isBetweenJobs: Boolean = current.exists(running => running.isDone && running.jobsToCome > 0)

  /** From now on all tasks are attempted in one executor. */
  def stayIn(executor: SimExecutor): Unit = home = Some(executor)

  /** Does the next thing, if there is one. */
  def step(): Unit = current match {
    case None => begin()
    case Some(running) if running.batch.number < world.model.newest && !running.hasLooked =>
      // Another run has written it: this one is a zombie and learns it now.
      world.trace.add(name, "finds its batch in the log", running.batch.number.toString)
      world.cluster.stop(this)
    case Some(running) if running.isDone && running.jobsToCome > 0 =>
      running.beginJob()
      world.trace.add(name, "computes again", "", running.batch.number)
      running.partitions.foreach(launch(running, _))
    case Some(running) if running.isDone => if (mayCommit(running)) lookAndCommit(running)
    case Some(running) => running.partitions.filter(running.isIdle).foreach(launch(running, _))
  }

  /** Starts another attempt at a task of which one is under way. */
  def speculate(): Unit = current.foreach { running =>
    running.partitions
      .find(partition => !running.answers.contains(partition) && !running.isIdle(partition))
      .foreach(launch(running, _))
  }

  private[this] def begin(): Unit = {
    val number = world.model.newest
    val bases = world.stores.map(store => store -> world.model.id(store, number)).toMap
    val batch = world.model.plan(number) {
      val stores =
        world.stores.map(store => store -> world.model.content(store, number, bases(store)))
      Batch.of(
        number,
        stores.map { case (store, content) => store -> content.getOrElse(world.plan.nothing) },
        world.plan,
        world.random)
    }
    val running = new Running(batch, bases)
    current = Some(running)
    running.partitions.foreach(launch(running, _))
  }

  private[this] def launch(running: Running, partition: Int): Unit = {
    val executor = home.getOrElse(placeFor(running, partition))
    val salt = if (world.plan.attemptsDiffer) world.random.between(1, 999).toLong else 0L
    val attempt = new Attempt(
      world,
      this,
      executor,
      running.batch,
      partition,
      running.bases,
      running.ofJob(partition).size,
      salt)
    running.attempts += attempt
    world.cluster.pending += attempt
  }

  // Spark would have a task where its store is, and most of the later jobs' tasks are there.
  private[this] def placeFor(running: Running, partition: Int): SimExecutor = {
    val executors = world.cluster.executors.toVector
    running
      .placeBefore(partition)
      .filter(executors.contains(_) && world.random.chance(0.7))
      .getOrElse(world.random.oneOf(executors))
  }

  // Where attempts differ and write the same file, none may come after the batch is committed.
  private[this] def mayCommit(running: Running): Boolean =
    !world.plan.attemptsReplace || running.attempts.forall(_.isOver)

  // A log that refuses nothing was looked at before, and another run may have written it since.
  private[this] def lookAndCommit(running: Running): Unit =
    if (world.plan.refusingLog || running.hasLooked) commit(running)
    else running.hasLooked = true

  private[this] def commit(running: Running): Unit = {
    world.cluster.pending.filterInPlace(attempt => !running.attempts.contains(attempt))
    val ids = running.firstAnswers.values.flatten.toMap
    val number = running.batch.number
    val counts = world.model.commit(number, ids)
    world.trace.add(name, if (counts) "commits" else "is refused", "", number)
    if (counts) {
      world.counters.commits += 1
      current = None
    } else {
      if (!world.plan.refusingLog) {
        if (world.model.overwrite(number, ids)) world.isDamaged = true
        world.trace.add(name, "writes over", "", number)
      }
      world.cluster.stop(this)
    }
  }

  private final class Running(val batch: Batch, val bases: Map[StoreKey, Option[String]]) {
    val attempts = mutable.ArrayBuffer.empty[Attempt]
    val partitions: Range = 0 until world.plan.partitions

    /** Whether it was seen that the log lacks the batch. */
    var hasLooked = false

    // Where the attempts of the job begin that is under way, and what the first job has answered.
    private[this] var jobBegins = 0
    private[this] var jobsLeft = world.plan.actions - 1
    private[this] var answersOfFirst = Option.empty[Map[Int, Answer]]

    /** How many jobs follow the one that is under way. */
    def jobsToCome: Int = jobsLeft

    /** The next job begins. */
    def beginJob(): Unit = {
      if (answersOfFirst.isEmpty) answersOfFirst = Some(answers)
      jobBegins = attempts.size
      jobsLeft -= 1
    }

    /** The attempts of the job at a task. */
    def ofJob(partition: Int): collection.Seq[Attempt] =
      attempts.view.drop(jobBegins).filter(_.partition == partition).toSeq

    /** Where the job before has computed a partition last. */
    def placeBefore(partition: Int): Option[SimExecutor] =
      attempts.view
        .take(jobBegins)
        .filter(attempt => attempt.partition == partition && attempt.answer.isDefined)
        .lastOption
        .map(_.executor)

    /** What the commit log gets. */
    def firstAnswers: Map[Int, Answer] = answersOfFirst.getOrElse(answers)

    def answers: Map[Int, Answer] =
      attempts.reverseIterator
        .take(attempts.size - jobBegins)
        .flatMap(attempt => attempt.answer.map(attempt.partition -> _))
        .toMap

    def isDone: Boolean = answers.size == partitions.size

    def isIdle(partition: Int): Boolean =
      ofJob(partition).forall(a => a.isOver && a.answer.isEmpty)

    def failures: Int = attempts.count(a => a.isOver && a.answer.isEmpty)
  }
}

private object Driver {

  /** The ids of the versions that an attempt has made. */
  type Answer = Map[StoreKey, Option[String]]
}
