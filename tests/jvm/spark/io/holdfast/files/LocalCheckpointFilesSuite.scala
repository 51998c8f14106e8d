package io.holdfast.files

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.CyclicBarrier

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  ChecksumException,
  FileAlreadyExistsException,
  FileSystem,
  Path,
  RawLocalFileSystem
}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastCheckpointFileManager
import io.holdfast.testkit.{Background, TemporaryFolder}

/** What `HoldfastCheckpointFileManager` leaves on a local disk, as Hadoop's own file system sees it. */
class LocalCheckpointFilesSuite extends AnyFunSuite {

  private def use[A](body: Folder => A): A = TemporaryFolder.use(root => body(new Folder(root)))

  private final class Folder(root: LocalPath) {
    val conf = new Configuration()
    conf.set(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[HoldfastCheckpointFileManager].getName)
    val manager: CheckpointFileManager =
      CheckpointFileManager.create(new Path(root.toUri), conf)
    private val hadoop = FileSystem.getLocal(new Configuration())

    def path(name: String): Path = new Path(root.toUri.toString, name)
    def onDisk(name: String): LocalPath = root.resolve(name)

    def write(name: String, text: String, overwrite: Boolean = true): Unit = {
      val out = manager.createAtomic(path(name), overwrite)
      out.write(text.getBytes(UTF_8))
      out.close()
    }

    /** What Hadoop reads, which verifies checksums where there are any. */
    def read(name: String): String =
      Using.resource(hadoop.open(path(name)))(in => new String(in.readAllBytes(), UTF_8))

    def names: Seq[String] =
      Using.resource(Files.list(root))(_.iterator.asScala.map(_.getFileName.toString).toSeq.sorted)
  }

  private val long = "0123456789" * 1000

  test("a file appears with its close, with checksums as Hadoop writes them") {
    use { folder =>
      val out = folder.manager.createAtomic(folder.path("a"), overwriteIfPossible = false)
      long.getBytes(UTF_8).grouped(700).foreach(part => out.write(part))
      out.write('!')
      assert(!folder.names.contains("a"))
      out.close()
      out.close()
      assert(folder.names == Seq(".a.crc", "a"))
      assert(folder.read("a") == long + "!")

      val hadoop = FileSystem.getLocal(new Configuration())
      Using.resource(hadoop.create(folder.path("b")))(_.write((long + "!").getBytes(UTF_8)))
      assert(
        Files.readAllBytes(folder.onDisk(".a.crc")).toSeq ==
          Files.readAllBytes(folder.onDisk(".b.crc")).toSeq)
    }
  }

  for (text <- Seq("", "x", "y" * 511, "y" * 512, "y" * 513)) {
    test(s"a file of ${text.length} bytes is read back, and any other byte in it is noticed") {
      use { folder =>
        folder.write("a", text)
        assert(folder.read("a") == text)
        text.indices.filter(index => index % 100 == 0 || index == text.length - 1).foreach {
          index =>
            val bytes = text.getBytes(UTF_8)
            bytes(index) = (bytes(index) ^ 1).toByte
            Files.write(folder.onDisk("a"), bytes)
            intercept[ChecksumException](folder.read("a"))
            intercept[ChecksumException] {
              Using.resource(folder.manager.open(folder.path("a")))(_.readAllBytes())
            }
        }
      }
    }
  }

  test("a file takes the place of another with its own checksums") {
    use { folder =>
      folder.write("a", "old" * 1000)
      folder.write("a", "new")
      assert(folder.read("a") == "new")
      assert(folder.names == Seq(".a.crc", "a"))
    }
  }

  test("a file that may not replace another leaves it as it was") {
    use { folder =>
      folder.write("a", "first", overwrite = false)
      val e = intercept[FileAlreadyExistsException](folder.write("a", "second", overwrite = false))
      assert(e.getMessage.contains("another run of the query"))
      assert(folder.read("a") == "first")
      assert(folder.names == Seq(".a.crc", "a"))
    }
  }

  test("of many that create a file at once, one does, and its bytes are the file's") {
    use { folder =>
      (1 to 30).foreach { round =>
        val start = new CyclicBarrier(4)
        val writers = (1 to 4).map { writer =>
          new Background({
            val out = folder.manager.createAtomic(folder.path(s"$round"), false)
            out.write(s"$writer".getBytes(UTF_8))
            start.await()
            Try(out.close()).map(_ => s"$writer").toOption
          })
        }
        val created = writers.flatMap(_.result())
        assert(created.size == 1)
        assert(folder.read(s"$round") == created.head)
      }
      assert(!folder.names.exists(_.contains(".tmp")))
    }
  }

  test("of many that replace a file at once, the file is that of one of them, and can be read") {
    use { folder =>
      (1 to 30).foreach { round =>
        val start = new CyclicBarrier(4)
        val writers = (1 to 4).map { writer =>
          new Background({
            val out = folder.manager.createAtomic(folder.path(s"$round"), true)
            out.write(s"$writer".getBytes(UTF_8))
            start.await()
            out.close()
          })
        }
        writers.foreach(_.result())
        assert(Set("1", "2", "3", "4").contains(folder.read(s"$round")))
      }
      assert(!folder.names.exists(_.contains(".tmp")))
    }
  }

  test("a cancelled file leaves nothing, and closing it afterwards does nothing") {
    use { folder =>
      folder.write("a", "first")
      val out = folder.manager.createAtomic(folder.path("a"), overwriteIfPossible = true)
      out.write(1)
      out.cancel()
      out.close()
      assert(folder.read("a") == "first")
      assert(folder.names == Seq(".a.crc", "a"))
    }
  }

  test("checksums that outlived their file do not spoil a new one") {
    use { folder =>
      folder.write("a", "first")
      Files.delete(folder.onDisk("a"))
      folder.write("a", "second", overwrite = false)
      assert(folder.read("a") == "second")
    }
  }

  test("deleting a file deletes its checksums, and what is not there is no error") {
    use { folder =>
      folder.write("a", "first")
      folder.manager.delete(folder.path("a"))
      folder.manager.delete(folder.path("a"))
      assert(folder.names.isEmpty)
      assert(!folder.manager.exists(folder.path("a")))
    }
  }

  test("folders are made as they are needed, and listed without checksum files") {
    use { folder =>
      val nested = folder.path("x/y")
      folder.manager.mkdirs(nested)
      folder.write("x/y/a", "text")
      folder.write("z/b", "text")
      assert(folder.manager.list(nested).map(_.getPath.getName).toSeq == Seq("a"))
      assert(folder.manager.list(nested).map(_.getLen).toSeq == Seq(4L))
      assert(folder.manager.isLocal)
      assert(folder.manager.createCheckpointDirectory().toString.startsWith("file:/"))
    }
  }

  test("the folder of a checkpoint that cannot be made is refused in a sentence") {
    use { folder =>
      folder.write("a", "no folder")
      val place = folder.path("a/checkpoint")
      val manager = CheckpointFileManager.create(place, folder.conf)
      val refusal = intercept[IllegalArgumentException](manager.createCheckpointDirectory())
      assert(
        refusal.getMessage.matches(
          "the folder of the checkpoint, file:.*/a/checkpoint, cannot be made: .*/a/checkpoint: " +
            "Not a directory\\. Choose another checkpointLocation, or let .* write there"))
      assert(folder.read("a") == "no folder")
    }
  }

  test("a path of another file system is left to Spark's own manager") {
    val conf = new Configuration()
    conf.set("fs.elsewhere.impl", classOf[Elsewhere].getName)
    val manager = new HoldfastCheckpointFileManager(new Path("elsewhere://host/folder"), conf)
    assert(manager.exists(new Path("elsewhere://host/folder")))
  }

  test("a local path that another file system is set for is left to Spark's own manager") {
    TemporaryFolder.use { root =>
      val conf = new Configuration()
      conf.setClass("fs.file.impl", classOf[RawLocalFileSystem], classOf[FileSystem])
      // Else it is the file system that this JVM has had before.
      conf.setBoolean("fs.file.impl.disable.cache", true)
      conf.set(
        SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
        classOf[HoldfastCheckpointFileManager].getName)
      val file = new Path(root.toUri.toString, "a")
      val manager = CheckpointFileManager.create(new Path(root.toUri), conf)
      Using.resource(manager.createAtomic(file, overwriteIfPossible = false))(
        _.write(long.getBytes(UTF_8)))
      val read = Using.resource(manager.open(file))(in => new String(in.readAllBytes(), UTF_8))
      assert(read == long)
    }
  }

  test("managers of other file systems share one copy of a configuration") {
    val conf = new Configuration(false)
    val setting = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key
    conf.set(setting, classOf[HoldfastCheckpointFileManager].getName)
    val copy = HoldfastCheckpointFileManager.withoutManager(conf)
    assert(copy.get(setting) == null && conf.get(setting) != null)
    assert(HoldfastCheckpointFileManager.withoutManager(conf) eq copy)
    assert(HoldfastCheckpointFileManager.withoutManager(new Configuration(conf)) ne copy)
  }
}

/** A file system that has whatever it is asked for. */
final class Elsewhere extends RawLocalFileSystem {
  override def getUri: java.net.URI = java.net.URI.create("elsewhere://host")

  override def exists(path: Path): Boolean = true
}
