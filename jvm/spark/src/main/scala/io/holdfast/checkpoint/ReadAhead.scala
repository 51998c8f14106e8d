package io.holdfast.checkpoint

import java.util
import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.util.concurrent.{ExecutionException, Executor, FutureTask, RejectedExecutionException}

import scala.annotation.tailrec

import org.apache.hadoop.io.IOUtils

import io.holdfast.file.StateFile
import io.holdfast.memory.StoreMemory

/** Brings the next delta files of a replay into memory while the one before is applied, several at a
  * time: on a remote file system most of the time to read a small file is waiting.
  *
  * For one thread. Bytes as they lie in the files are held ahead, at most [[ReadAhead.MaxBytes]].
  *
  * @param deltas
  *   what will be asked for, in this order
  * @param memory
  *   counts what is held ahead; what it has no room for is read when it is asked for
  * @param readers
  *   runs the fetches
  */
final private[holdfast] class ReadAhead(
    files: StateFiles,
    listing: StateFileListing,
    deltas: Seq[VersionId],
    memory: StoreMemory,
    readers: Executor)
    extends AutoCloseable {
  import ReadAhead._

  // A larger one is read as it comes.
  private val waiting = deltas.iterator.flatMap(listing.delta).filter(_.bytes <= MaxBytes).buffered
  private val fetching = new util.ArrayDeque[Fetch]
  private var bytesAhead = 0L
  // What is read ahead is a help only: it does without where there is no room for it.
  private val use = memory.newUse(refuses = false)

  /** The bytes of the next delta, from its start. */
  def open(delta: VersionId): InputStream = {
    fetchMore()
    if (fetching.isEmpty || fetching.peek().file.version != delta) {
      // There was no room for it, and it is not to be fetched later.
      if (waiting.headOption.exists(_.version == delta)) waiting.next()
      files.open(StateFile.Delta, delta)
    } else {
      val fetch = fetching.poll()
      val stream =
        try {
          // What no reader has begun is not worth waiting for: they may be busy with other loads.
          fetch.bytes.run()
          new ByteArrayInputStream(fetch.bytes.get())
        } catch {
          // To read it again in this thread gives the error its place, or succeeds.
          case _: ExecutionException => files.open(StateFile.Delta, delta)
        }
      bytesAhead -= fetch.file.bytes
      use.holds(bytesAhead)
      fetchMore()
      stream
    }
  }

  override def close(): Unit = {
    while (!fetching.isEmpty) {
      val _ = fetching.poll().bytes.cancel(true)
    }
    use.end()
  }

  @tailrec
  private def fetchMore(): Unit =
    if (waiting.hasNext && fetching.size < MaxFiles && mayFetch(waiting.head.bytes)) {
      val file = waiting.head
      val bytes = new FutureTask(() => fetch(file))
      if (begins(bytes)) {
        waiting.next()
        fetching.add(Fetch(file, bytes))
        bytesAhead += file.bytes
        use.holds(bytesAhead)
        fetchMore()
      }
    }

  // Without a thread for it, a file is read when it is asked for.
  private def begins(fetch: Runnable): Boolean =
    try {
      readers.execute(fetch)
      true
    } catch {
      // That there are no more threads is an OutOfMemoryError.
      case _: RejectedExecutionException | _: OutOfMemoryError => false
    }

  private def mayFetch(bytes: Long): Boolean =
    bytesAhead + bytes <= MaxBytes && memory.hasRoomFor(bytes + RoomLeft * (bytesAhead + bytes))

  private def fetch(file: VersionedFile): Array[Byte] = {
    val bytes = new ByteArrayOutputStream(file.bytes.toInt)
    val stream = files.open(file)
    try IOUtils.copyBytes(stream, bytes, math.min(file.bytes.toInt + 1, BufferBytes))
    finally stream.close()
    bytes.toByteArray
  }
}

private object ReadAhead {
  private val MaxFiles = 8
  private val BufferBytes = 1 << 16
  private val MaxBytes = 64L << 20

  // What is held ahead leaves so many times its bytes to the rows that are made of it: more than most
  // deltas are compressed.
  private val RoomLeft = 3L

  private final case class Fetch(file: VersionedFile, bytes: FutureTask[Array[Byte]])
}
