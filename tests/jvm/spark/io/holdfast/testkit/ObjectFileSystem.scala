package io.holdfast.testkit

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, FileNotFoundException, IOException}
import java.net.URI
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap, ConcurrentSkipListMap}
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.impl.OpenFileParameters
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** An object store in memory, as Hadoop shows one: `objects://STORE/...`. A file is an upload that
  * appears when it is closed, folders are where files are, and whoever opens a file by what a listing
  * has shown is refused where another has taken its place.
  */
final class ObjectFileSystem extends FileSystem {
  import ObjectFileSystem._

  private var store: Store = _

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    setConf(conf)
    store = ObjectFileSystem.store(name.getAuthority)
  }

  override def getUri: URI = URI.create(s"$Scheme://${store.name}")

  override def getScheme: String = Scheme

  override def hasPathCapability(path: Path, capability: String): Boolean = capability match {
    case CommonPathCapabilities.ABORTABLE_STREAM => true
    case ConditionalUpload => store.isConditional
    case _ => false
  }

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream = {
    store.asked("status")
    if (!overwrite && store.has(path)) throw new FileAlreadyExistsException(path.toString)
    upload(path, isConditional = false)
  }

  override def createFile(path: Path): FSDataOutputStreamBuilder[_, _] = new Builder(path)

  final private class Builder(path: Path)
      extends FSDataOutputStreamBuilder[FSDataOutputStream, Builder](ObjectFileSystem.this, path) {
    override def getThisBuilder: Builder = this

    override def build(): FSDataOutputStream = {
      if (!getOptions.getBoolean("fs.s3a.create.performance", false)) store.asked("status")
      upload(path, getOptions.getBoolean(ConditionalUpload, false))
    }
  }

  private def upload(path: Path, isConditional: Boolean): FSDataOutputStream =
    new FSDataOutputStream(new Upload(store, path, isConditional), null)

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    getFileStatus(path)
    read(path)
  }

  override protected def openFileWithOptions(
      path: Path,
      parameters: OpenFileParameters): CompletableFuture[FSDataInputStream] = {
    val listed = parameters.getStatus
    if (listed == null) getFileStatus(path)
    else if (store.has(path) && store.status(path) != listed.getModificationTime)
      throw new IOException(s"$path has changed")
    CompletableFuture.completedFuture(read(path))
  }

  private def read(path: Path): FSDataInputStream = {
    store.asked("get")
    new FSDataInputStream(new Content(store.get(path).bytes))
  }

  override def rename(from: Path, to: Path): Boolean = {
    store.asked("copy")
    store.put(to, store.get(from).bytes)
    store.remove(from)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    store.asked("delete")
    store.remove(path)
  }

  override def mkdirs(path: Path, permission: FsPermission): Boolean = {
    store.asked("status")
    store.asked("mkdirs")
    true
  }

  override def getFileStatus(path: Path): FileStatus = {
    store.asked("status")
    if (store.has(path)) status(path)
    else if (store.below(path).nonEmpty) new FileStatus(0L, true, 1, 0L, 0L, path)
    else throw new FileNotFoundException(path.toString)
  }

  override def listStatus(path: Path): Array[FileStatus] = {
    store.asked("list")
    val names = store.below(path)
    if (names.isEmpty) throw new FileNotFoundException(path.toString)
    names.map(new Path(path, _)).filter(store.has).map(status).toArray
  }

  private def status(path: Path): FileStatus = {
    val file = store.get(path)
    new FileStatus(file.bytes.length.toLong, false, 1, 1L << 20, file.number, path)
  }

  override def append(path: Path, bufferSize: Int, progress: Progressable): FSDataOutputStream =
    throw new UnsupportedOperationException("an object store appends nothing")

  override def setWorkingDirectory(path: Path): Unit = ()

  override def getWorkingDirectory: Path = new Path(s"$getUri/")
}

object ObjectFileSystem {
  val Scheme = "objects"

  private val ConditionalUpload = "fs.option.create.conditional.overwrite"
  private val stores = new ConcurrentHashMap[String, Store]

  /** The store of a name, made when it is first asked for. */
  def store(name: String): Store = stores.computeIfAbsent(name, new Store(_))

  /** What makes Hadoop know it. */
  def settings(conf: Configuration): Configuration = {
    conf.set(s"fs.$Scheme.impl", classOf[ObjectFileSystem].getName)
    conf
  }

  /** A file, and a number that no other one had. */
  final case class StoredFile(bytes: Array[Byte], number: Long)

  /** What is in a store, and what was asked of it. Any thread may call. */
  final class Store(val name: String) {
    @volatile var isConditional = true

    /** What an upload ends with, before it appears. */
    @volatile var atClose: () => Unit = () => ()

    private val files = new ConcurrentSkipListMap[String, StoredFile]
    private val counts = new ConcurrentHashMap[String, AtomicLong]
    private val numbers = new AtomicLong

    def path(below: String): Path = new Path(s"$Scheme://$name/$below")

    /** How often each thing was asked for since the last call, but for nothing. */
    def takeRequests(): Map[String, Long] = {
      val taken = counts.asScala.map { case (what, count) => what -> count.getAndSet(0L) }.toMap
      taken.filter(_._2 > 0)
    }

    private[testkit] def asked(what: String): Unit = {
      val _ = counts.computeIfAbsent(what, _ => new AtomicLong).incrementAndGet()
    }

    private def key(path: Path): String = path.toUri.getPath

    private[testkit] def has(path: Path): Boolean = files.containsKey(key(path))

    private[testkit] def get(path: Path): StoredFile =
      Option(files.get(key(path))).getOrElse(throw new FileNotFoundException(path.toString))

    private[testkit] def status(path: Path): Long = get(path).number

    private[testkit] def put(path: Path, bytes: Array[Byte]): Unit = {
      val _ = files.put(key(path), StoredFile(bytes, numbers.incrementAndGet()))
    }

    private[testkit] def putIfAbsent(path: Path, bytes: Array[Byte]): Boolean =
      files.putIfAbsent(key(path), StoredFile(bytes, numbers.incrementAndGet())) == null

    private[testkit] def remove(path: Path): Boolean = files.remove(key(path)) != null

    private[testkit] def below(path: Path): Seq[String] = {
      val prefix = s"${key(path)}/"
      val keys = files.keySet.asScala.toSeq.filter(_.startsWith(prefix))
      keys.map(_.stripPrefix(prefix).takeWhile(_ != '/')).distinct
    }
  }

  final private class Upload(store: Store, path: Path, isConditional: Boolean)
      extends ByteArrayOutputStream
      with Abortable {
    private var ended = false

    override def close(): Unit = if (!ended) {
      ended = true
      store.asked("put")
      store.atClose()
      if (!isConditional) store.put(path, toByteArray)
      else if (!store.putIfAbsent(path, toByteArray)) throw new IOException("412")
    }

    override def abort(): Abortable.AbortableResult = {
      val had = ended
      ended = true
      new Abortable.AbortableResult {
        override def alreadyClosed(): Boolean = had
        override def anyCleanupException(): IOException = null
      }
    }
  }

  final private class Content(bytes: Array[Byte])
      extends ByteArrayInputStream(bytes)
      with Seekable
      with PositionedReadable {

    override def seek(to: Long): Unit = pos = to.toInt

    override def getPos: Long = pos.toLong

    override def seekToNewSource(target: Long): Boolean = false

    override def read(at: Long, into: Array[Byte], offset: Int, length: Int): Int =
      throw new UnsupportedOperationException

    override def readFully(at: Long, into: Array[Byte], offset: Int, length: Int): Unit =
      throw new UnsupportedOperationException

    override def readFully(at: Long, into: Array[Byte]): Unit =
      throw new UnsupportedOperationException
  }
}
