package io.holdfast.fuzz

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean

import io.holdfast.file.StateFileException

/** What is fed with bytes, by Jazzer in a process of its own. Each is an object, whose method
  * `fuzzerTestOneInput` is one of its class for Java: that is where Jazzer looks.
  *
  * For one thread.
  */
trait Target {

  /** Class that Jazzer is told. */
  final def className: String = getClass.getName.stripSuffix("$")

  /** What to begin with: inputs that are right. */
  def seeds: Seq[Array[Byte]]

  /** Does with an input what is done with a file, and holds the result against what it has to be.
    *
    * @return
    *   whether it was read to its end; if not, it was refused as damage is
    * @throws java.lang.Throwable
    *   if something else came of it
    */
  def read(encoded: Array[Byte]): Boolean

  /** Holds what an input was read to against what another way leads to, whatever that takes. */
  def compare(encoded: Array[Byte]): Unit = ()

  /** What Jazzer calls. */
  final def fuzzerTestOneInput(encoded: Array[Byte]): Unit = {
    // Classes that are loaded, and changed by Jazzer, on the way take much, but not again.
    if (allocated(encoded) > mostBytes(encoded)) {
      val again = allocated(encoded)
      Target.check(
        again <= mostBytes(encoded),
        s"${encoded.length} bytes made it allocate $again, more than ${mostBytes(encoded)}")
    }
    compare(encoded)
  }

  /** Bytes that reading an input may allocate. */
  protected def mostBytes(encoded: Array[Byte]): Long =
    Target.mostBytesOf(encoded.length, times = 255)

  private def allocated(encoded: Array[Byte]): Long = {
    val before = Target.allocatedBytes
    val _ = read(encoded)
    Target.allocatedBytes - before
  }
}

object Target {

  private val MostBytes = 16L << 20

  /** @param times
    *   how many bytes may come of one where it is decompressed; all may be one row, and a buffer that
    *   doubles is allocated several times
    */
  private[fuzz] def mostBytesOf(length: Int, times: Int): Long = MostBytes + 4L * times * length

  /** What four bytes of zstd may stand for, for each of them. */
  private[fuzz] val TimesOfZstd = 1 << 15

  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]

  private def allocatedBytes: Long = threads.getThreadAllocatedBytes(Thread.currentThread.getId)

  /** All of them, by the names of the command line. */
  val all: Seq[(String, Target)] = Seq(
    "records" -> Records,
    "compressed" -> CompressedRecords,
    "families" -> Families,
    "family-files" -> FamilyFiles,
    "definitions" -> Definitions)

  /** The result, or nothing where the input is damage that says where it is.
    *
    * @param length
    *   bytes of what the damage may be in, if they are known
    */
  private[fuzz] def unlessDamaged[A](result: => A, length: Long = Long.MaxValue): Option[A] =
    try Some(result)
    catch {
      case e: StateFileException =>
        if (e.offset < 0 || e.offset > length) {
          throw new AssertionError(s"damage at ${e.offset} of $length bytes", e)
        }
        None
    }

  private[fuzz] def check(isRight: Boolean, what: => String): Unit =
    if (!isRight) throw new AssertionError(what)
}
