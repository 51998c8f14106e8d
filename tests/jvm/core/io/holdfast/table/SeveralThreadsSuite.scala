package io.holdfast.table

import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

/** A transaction that several threads use: they take turns. */
class SeveralThreadsSuite extends AnyFunSuite {
  private val keys = 20000L

  private def together(tasks: (() => Unit)*): Unit = {
    val threads = Executors.newFixedThreadPool(tasks.size)
    val started = new CountDownLatch(tasks.size)
    try {
      val results = tasks.map { task =>
        threads.submit[Unit] { () =>
          started.countDown()
          started.await()
          task()
        }
      }
      results.foreach(_.get(60, TimeUnit.SECONDS))
    } finally threads.shutdown()
  }

  test("one thread reads while another puts, and each sees whole rows") {
    (1 to 5).foreach { _ =>
      val base = Keys.changed(Version.empty)(t => (0L until keys).foreach(Keys.put(t, _, 16)))
      val rows = base.open()
      together(
        () => (0L until keys).foreach(Keys.put(rows, _, 16, 2)),
        () =>
          (keys - 1 to 0L by -1L).foreach { key =>
            val fill = Keys.fill(rows, key)
            assert(fill == 1 || fill == 2, s"key $key has a row of $fill")
          })
      val version = rows.commit()
      assert(TableInvariants.firstViolation(version) === None)
      assert(Keys.content(version) === (0L until keys).map(_ -> 2.toByte).toMap)
    }
  }

  test("two threads that change different keys lose no change") {
    val rows = Keys.changed(Version.empty)(t => (0L until keys).foreach(Keys.put(t, _, 16))).open()
    together(
      () => (0L until keys by 2L).foreach(Keys.put(rows, _, 16, 2)),
      () => (1L until keys by 2L).foreach(Keys.remove(rows, _)))
    val version = rows.commit()
    assert(TableInvariants.firstViolation(version) === None)
    assert(Keys.content(version) === (0L until keys by 2L).map(_ -> 2.toByte).toMap)
  }

  test("a transaction that another thread aborts writes nothing into the page of the next one") {
    (1 to 20).foreach { _ =>
      val base = Keys.changed(Version.empty)(t => (0L until 100L).foreach(Keys.put(t, _, 16)))
      val aborted = base.open()
      var next = base
      val writing = new CountDownLatch(1)
      together(
        () => {
          var key = 1000L
          intercept[IllegalStateException] {
            while (true) {
              Keys.put(aborted, key, 16, 7)
              key += 1
              if (key == 1100L) writing.countDown()
            }
          }
          ()
        },
        () => {
          writing.await()
          aborted.abort()
          next = Keys.changed(base)(t => (100L until 5000L).foreach(Keys.put(t, _, 16, 3)))
        })
      assert(TableInvariants.firstViolation(next) === None)
      assert((100L until 5000L).forall(Keys.fill(next, _) == 3))
      assert(next.keyCount === 5000)
    }
  }

  test("a thread for which there is no memory to ask for its turn keeps nobody out") {
    val rows = Version.empty.open()
    val owner = new Owner(rows)
    owner.start()
    owner.hasPut.await()
    intercept[OutOfMemoryError](Keys.put(rows, 2L, 16))
    owner.mayGoOn.countDown()
    owner.join(TimeUnit.SECONDS.toMillis(60))
    assert(!owner.isAlive)
    Keys.put(rows, 2L, 16)
    assert(Keys.content(rows.commit()).keySet === Set(0L, 1L, 2L))
  }

  /** Puts a row, waits, and puts another one. Its stack cannot be had. */
  private final class Owner(rows: Transaction) extends Thread("owner") {
    val hasPut, mayGoOn = new CountDownLatch(1)
    setDaemon(true)

    override def run(): Unit = {
      Keys.put(rows, 0L, 16)
      hasPut.countDown()
      mayGoOn.await()
      Keys.put(rows, 1L, 16)
    }

    override def getStackTrace: Array[StackTraceElement] =
      throw new OutOfMemoryError("no memory for a stack")
  }
}
