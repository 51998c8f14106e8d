package io.holdfast.bench

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean

/** What it costs to walk over all rows of a store that was large and has few rows left, beside one
  * that never had more: medians of walks in turns, and heap bytes that one allocates.
  *
  * Arguments: provider, kind, rows (that there were), left.
  */
object Walks {
  private val WarmUp = 2000
  private val Walked = 501

  def measure(arguments: Arguments): Numbers = {
    val left = arguments.long("left")
    val shrunk = new LoadedStore(arguments.peer, arguments.kind, arguments.long("rows"))
    val small = new LoadedStore(arguments.peer, arguments.kind, left)
    try {
      shrink(shrunk, left, arguments.long("rows"))
      Collections.settle()
      (1 to WarmUp).foreach { _ =>
        walk(shrunk)
        walk(small)
      }
      val times = (1 to Walked).map(_ => (nanos(walk(shrunk)), nanos(walk(small))))
      Seq(
        "shrunkWalkNanos" -> median(times.map(_._1)),
        "smallWalkNanos" -> median(times.map(_._2)),
        "shrunkWalkBytes" -> allocated(walk(shrunk)),
        "smallWalkBytes" -> allocated(walk(small)))
    } finally {
      shrunk.close()
      small.close()
    }
  }

  // The rows that stay lie all over the pages.
  private def shrink(store: LoadedStore, left: Long, rows: Long): Unit = {
    val every = rows / left
    (0 until 10).foreach { batch =>
      store.commit { changed =>
        var row = batch.toLong
        while (row < rows) {
          if (row % every != 0) changed.remove(store.kind.key(row))
          row += 10
        }
      }
    }
  }

  private def walk(store: LoadedStore): Unit = {
    val reader = store.provider.getReadStore(store.version)
    val rows = reader.iterator()
    while (rows.hasNext) rows.next()
    rows.close()
    reader.release()
  }

  private def nanos(body: => Unit): Double = {
    val start = System.nanoTime()
    body
    (System.nanoTime() - start).toDouble
  }

  private def median(values: Seq[Double]): Double = values.sorted.apply(values.size / 2)

  private def allocated(body: => Unit): Double = {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
    val thread = Thread.currentThread.getId
    val before = threads.getThreadAllocatedBytes(thread)
    body
    (threads.getThreadAllocatedBytes(thread) - before).toDouble
  }
}
