package io.holdfast.checkpoint

import java.io.{FileNotFoundException, InputStream}
import java.util.zip.{CRC32, CheckedInputStream}

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state.holdfast.{
  FileChecksums,
  LeftFiles,
  SparkInternals
}

import io.holdfast.conf.StoreContext
import io.holdfast.file.{
  BlockInput,
  ChunkByChunk,
  Closing,
  FamilyFile,
  FamilyRecordReader,
  FirstBytes,
  InvalidFamilyFileException,
  RecordReader,
  StateFile,
  StateFileException,
  UnreadableFileException,
  WholeChunks
}
import io.holdfast.objects.ObjectCheckpointFiles
import io.holdfast.table.FamilyChanges

/** The delta and snapshot files of one store, in its folder of the checkpoint.
  *
  * Everything goes through Spark's `CheckpointFileManager` of the checkpoint location and the codec
  * of `spark.sql.streaming.stateStore.compression.codec`, as in Spark's own provider
  * (`HDFSBackedStateStoreProvider`, Spark 4.2). Any thread may call.
  *
  * @param newManager
  *   makes the manager of the files in a folder
  */
private[holdfast] final class StateFiles(
    context: StoreContext,
    newManager: (Path, Configuration) => CheckpointFileManager)
    extends Logging {
  import StateFiles._

  private val conf = context.conf

  val folder: Path = context.id.storeCheckpointLocation()
  private val uri = folder.toUri
  private val folderName = folder.toString

  @volatile private var folderCreated = false

  private val managers = new FolderManagersInUse(() =>
    new FolderManagers(context, () => newManager(folder, context.hadoopConf)))

  private def manager: CheckpointFileManager = managers.now.manager

  private def leaving: Option[LeavingFileManager] = managers.now.leaving

  // What it can do with fewer requests than others.
  private def objects: Option[ObjectCheckpointFiles] = managers.now.objects

  def fileManager: CheckpointFileManager = manager

  /** Whether files have their checksums in others beside them. */
  def hasChecksums: Boolean = FileChecksums.areOn(conf)

  private val leftChecksums = new LeftChecksums

  /** What the files are compressed with. */
  def codec(): CompressionCodec = codec(conf.compressionCodec)

  def path(kind: StateFile.Kind, version: VersionId): Path =
    new Path(uri.getScheme, uri.getAuthority, s"${uri.getPath}/${name(kind, version)}")

  /** The deltas of a version by any id, in messages. */
  def deltasOf(number: Long): Path = new Path(folder, s"${number}_*.delta")

  private def name(kind: StateFile.Kind, version: VersionId): String =
    s"${version.fileName}.${kind.suffix}"

  // A file in messages, without a path for each that is read.
  private def described(kind: StateFile.Kind, version: VersionId): StateFile =
    StateFile(s"$folderName/${name(kind, version)}", version.number, kind)

  /** The bytes of a file as they lie in it.
    *
    * @throws java.io.FileNotFoundException
    *   if there is no such file
    */
  def open(kind: StateFile.Kind, version: VersionId): InputStream =
    manager.open(path(kind, version))

  /** The bytes of a file that a listing has shown. In an object store this may fail, at any read, where
    * another file has taken its place since.
    */
  def open(file: VersionedFile): InputStream =
    objects.fold(manager.open(file.path))(_.open(file.status))

  /** Reads the records of a file.
    *
    * @param raw
    *   its bytes from the start; closed in the end
    * @throws io.holdfast.file.StateFileException
    *   if it cannot be read
    * @throws org.apache.spark.SparkException
    *   of class CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED if its file of checksums says otherwise
    */
  def read[A](kind: StateFile.Kind, version: VersionId, raw: InputStream)(
      use: RecordReader => A): A = {
    val file = described(kind, version)
    val first = new FirstBytes(raw)
    // Spark verifies the checksum of a file when it is closed, so closing may fail like reading.
    try {
      Closing.after(first) { first =>
        Closing.after(decompress(first, file, codec())) { decompressed =>
          use(new RecordReader(decompressed, file, context.format.checksums))
        }
      }
    } catch {
      case e: StateFileException if FamilyFile.isOne(first) =>
        throw new InvalidFamilyFileException(
          file,
          0L,
          "expected the file of a store without column families, found that of one with them",
          e)
    }
  }

  /** Reads the records of a file of a store with column families, to the end of the file.
    *
    * @param raw
    *   as for [[read]]
    */
  def readFamilies[A](kind: StateFile.Kind, version: VersionId, raw: InputStream)(
      use: FamilyRecordReader => A): A = readBlocks(kind, version, raw)(use)(_.finish())

  /** What a file of a store with column families says of them. That is in front of it, and of the rest no
    * more is decompressed than comes along, so it may be damaged.
    *
    * @throws java.io.FileNotFoundException
    *   if there is no such file
    * @throws io.holdfast.file.StateFileException
    *   if it cannot be read
    */
  def families(kind: StateFile.Kind, version: VersionId): FamilyChanges =
    readBlocks(kind, version, open(kind, version))(_.families())(_ => ())

  private def readBlocks[A](kind: StateFile.Kind, version: VersionId, raw: InputStream)(
      use: FamilyRecordReader => A)(end: BlockInput => Unit): A = {
    val file = described(kind, version)
    Closing.after(raw) { raw =>
      val said = FamilyFile.read(raw, file)
      val blocks = new BlockInput(raw, file)
      val result =
        try {
          Closing.after(decompress(blocks, file, codec(said.codec))) { decompressed =>
            use(new FamilyRecordReader(decompressed, file, said.rowChecksums))
          }
        } catch { case NonFatal(e) => throw Option(blocks.damage).getOrElse(e) }
      end(blocks)
      result
    }
  }

  // Files of stores with column families name theirs.
  private def codec(name: String): CompressionCodec = SharedCodecs.of(context.sparkConf, name)

  // Some codecs read the head of the file as soon as they are made.
  private def decompress(raw: InputStream, file: StateFile, chosen: CompressionCodec): InputStream =
    try {
      val name = SparkInternals.shortName(chosen)
      val whole = WholeChunks.of(name, raw, SparkInternals.trustsLz4)
      ChunkByChunk.of(name, chosen.compressedInputStream(whole))
    } catch {
      case NonFatal(e) => throw new UnreadableFileException(file, 0L, e)
    }

  /** Begins a file that appears, whole, when it is finished.
    *
    * @param replaces
    *   whether it takes the place of one that is there; else that one stays ([[hasLeft]]), beside file
    *   checksums and where the file system can tell
    */
  def create(
      kind: StateFile.Kind,
      version: VersionId,
      replaces: Boolean = true): StateFileOutput = {
    val chosen = codec()
    createFolder()
    val file = path(kind, version)
    deleteLeftChecksums(file)
    val raw = manager.createAtomic(file, replaces || leaving.isEmpty)
    try new StateFileOutput(raw, chosen, context.format.checksums, familyFile(kind, chosen))
    catch {
      case e: Throwable =>
        raw.cancel()
        throw e
    }
  }

  /** Whether a file that was finished, and was to replace none, has found one of its name. */
  def hasLeft(kind: StateFile.Kind, version: VersionId): Boolean =
    leaving.exists(_.hasLeft(path(kind, version)))

  private def familyFile(
      kind: StateFile.Kind,
      chosen: CompressionCodec): Option[(StateFile.Kind, FamilyFile)] =
    context.families.map { _ =>
      kind -> FamilyFile(SparkInternals.shortName(chosen), context.format.checksums)
    }

  // As in Spark 4.3, the folder comes with the first file: who only reads needs no right to write.
  private def createFolder(): Unit =
    if (!folderCreated) {
      if (objects.isEmpty) manager.mkdirs(folder)
      folderCreated = true
    }

  /** Whether the delta of another attempt has taken the place of one that is known, as far as a
    * listing shows. One that was written here is read for that, if its size is the same.
    *
    * @throws java.io.IOException
    *   if it cannot be read
    */
  def isReplaced(id: VersionId, known: KnownDelta, listing: StateFileListing): Boolean =
    id.id.isEmpty && listing.delta(id).exists { file =>
      file.bytes != known.bytes || (known match {
        case KnownDelta.Written(_, checksum) => checksumOf(file) != checksum
        case KnownDelta.Listed(_, modifiedMillis) => file.modifiedMillis != modifiedMillis
      })
    }

  private def checksumOf(file: VersionedFile): Long =
    // Whatever is there by now: another file is one with another checksum, and no failure.
    Closing.after(new CheckedInputStream(manager.open(file.path), new CRC32)) { bytes =>
      val buffer = new Array[Byte](ChecksumBuffer)
      while (bytes.read(buffer) >= 0) {}
      bytes.getChecksum.getValue
    }

  def exists(kind: StateFile.Kind, version: VersionId): Boolean =
    manager.exists(path(kind, version))

  def delete(path: Path): Unit = {
    deleteLeftChecksums(path)
    manager.delete(path)
  }

  /** Deletes the file checksums that another run of the query has left where a file is to appear. */
  def deleteLeftChecksums(kind: StateFile.Kind, version: VersionId): Unit =
    deleteLeftChecksums(path(kind, version))

  // First, so that no file has those of another in between.
  private def deleteLeftChecksums(file: Path): Unit =
    leftChecksums.of(file).foreach { checksums =>
      manager.delete(checksums)
      leftChecksums.deleted(checksums)
    }

  /** Deletes files of the folder; what fails leaves the rest of them. Checksums that another run of the
    * query has left beside them stay.
    */
  def deleteAll(paths: Seq[Path]): Unit =
    objects.fold(paths.foreach(manager.delete))(_.deleteAll(folder, paths))

  /** What the folder holds now; empty if it does not exist. */
  def list(): StateFileListing = {
    val found =
      try manager.list(folder).toSeq
      catch { case _: FileNotFoundException => Seq.empty }
    val checksums = found.map(_.getPath).filter(FileChecksums.isOne)
    leftChecksums.listed(if (!hasChecksums && LeftFiles.go) checksums else Seq.empty)
    StateFileListing(found.flatMap(StateFileListing.versioned), checksums)
  }

  /** Keeps the file manager open until the use is closed, also if the files are closed meanwhile. */
  def use(): AutoCloseable = managers.use()

  /** Closes the file manager when nobody uses it any more. Idempotent. */
  def close(): Unit = managers.close()
}

private object StateFiles {
  private val ChecksumBuffer = 8192
}
