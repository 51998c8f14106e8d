package io.holdfast.checkpoint

import java.util
import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.{ExecutionException, Executor, Future, FutureTask}

import io.holdfast.file.StateFile

/** Brings the next delta files of a replay into memory while the one before is applied, several at a
  * time: on a remote file system most of the time to read a small file is waiting.
  *
  * For one thread. Bytes as they lie in the files are held ahead, at most [[ReadAhead.MaxBytes]].
  *
  * @param deltas
  *   what will be asked for, in this order
  * @param readers
  *   runs the fetches
  */
final private[holdfast] class ReadAhead(
    files: StateFiles,
    listing: StateFileListing,
    deltas: Seq[VersionId],
    readers: Executor)
    extends AutoCloseable {
  import ReadAhead._

  // A larger one is read as it comes.
  private val waiting = deltas.iterator.flatMap(listing.delta).filter(_.bytes <= MaxBytes).buffered
  private val fetching = new util.ArrayDeque[Fetch]
  private var bytesAhead = 0L

  /** The bytes of the next delta, from its start. */
  def open(delta: VersionId): InputStream = {
    fetchMore()
    if (fetching.isEmpty || fetching.peek().file.version != delta)
      files.open(StateFile.Delta, delta)
    else {
      val fetch = fetching.poll()
      val stream =
        try new ByteArrayInputStream(fetch.bytes.get())
        catch {
          // To read it again in this thread gives the error its place, or succeeds.
          case _: ExecutionException => files.open(StateFile.Delta, delta)
        }
      bytesAhead -= fetch.file.bytes
      fetchMore()
      stream
    }
  }

  override def close(): Unit = while (!fetching.isEmpty) {
    val _ = fetching.poll().bytes.cancel(true)
  }

  private def fetchMore(): Unit =
    while (waiting.hasNext && fetching.size < MaxFiles && bytesAhead + waiting.head.bytes <= MaxBytes) {
      val file = waiting.next()
      bytesAhead += file.bytes
      val bytes = new FutureTask(() => fetch(file))
      readers.execute(bytes)
      fetching.add(Fetch(file, bytes))
    }

  private def fetch(file: VersionedFile): Array[Byte] = {
    val stream = files.open(StateFile.Delta, file.version)
    try stream.readAllBytes()
    finally stream.close()
  }
}

private object ReadAhead {
  private val MaxFiles = 8
  private val MaxBytes = 64L << 20

  private final case class Fetch(file: VersionedFile, bytes: Future[Array[Byte]])
}
