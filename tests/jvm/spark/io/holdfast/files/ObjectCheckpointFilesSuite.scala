package io.holdfast.files

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastCheckpointFileManager
import io.holdfast.objects.{ObjectCheckpointFiles, StateFileManagers, TellingFileManager}
import io.holdfast.testkit.{LocalFileManager, ObjectFileSystem}

/** Checkpoint files in an object store: what each costs, and what becomes of those that fail. The same
  * on `s3a` is in `tests/python/filesystems`.
  */
class ObjectCheckpointFilesSuite extends AnyFunSuite {
  import ObjectCheckpointFilesSuite._

  test("a file appears with its close, by one request") {
    val in = new InStore("one")
    val out = in.begin("1.delta", "rows")
    assert(!in.files.exists(in.path("1.delta")))
    in.store.takeRequests()
    out.close()
    out.close()
    assert(in.store.takeRequests() == Map("put" -> 1))
    in.begin("1.delta", "other rows").close()
    assert(in.store.takeRequests() == Map("put" -> 1))
    assert(in.read("1.delta") == "other rows")
  }

  test("what is cancelled leaves nothing, and what it was to replace") {
    val in = new InStore("cancelled")
    in.begin("1.delta", "rows").close()
    in.store.takeRequests()
    for (name <- Seq("1.delta", "2.delta")) {
      val out = in.begin(name, "other rows")
      out.cancel()
      out.close()
    }
    assert(in.store.takeRequests() == Map.empty)
    assert(in.names == Seq("1.delta"))
    assert(in.read("1.delta") == "rows")
  }

  test("an upload that fails in the end is thrown, and leaves nothing") {
    val in = new InStore("failing")
    in.store.atClose = () => throw new IOException("no answer")
    for (overwrite <- Seq(true, false)) {
      val out = in.begin("1.delta", "rows", overwrite)
      assert(intercept[IOException](out.close()).getMessage == "no answer")
      out.close()
      assert(!in.files.exists(in.path("1.delta")))
    }
  }

  for (conditional <- Seq(true, false)) {
    test(
      s"of two that may not replace each other the second is refused, conditional=$conditional") {
      val in = new InStore(s"refused-$conditional", conditional)
      val first = in.begin("0", "first", overwrite = false)
      val second = in.begin("0", "second", overwrite = false)
      first.close()
      val refused = intercept[FileAlreadyExistsException](second.close())
      assert(refused.getMessage.contains("is there already and is not to be replaced"))
      intercept[FileAlreadyExistsException](in.begin("0", "third", overwrite = false).close())
      assert(in.read("0") == "first")
    }
  }

  test(
    "a file that a listing has shown is opened without asking for it, and not when it was replaced") {
    val in = new InStore("listed")
    in.begin("1.delta", "rows").close()
    val listed = in.files.list(in.path(""))
    in.store.takeRequests()
    val stream = in.files.open(listed.head)
    assert(stream.read() == 'r')
    assert(in.store.takeRequests() == Map("get" -> 1))
    in.begin("1.delta", "rows").close()
    intercept[IOException](in.files.open(listed.head))
    in.files.delete(in.path("1.delta"))
    intercept[FileNotFoundException](in.files.open(listed.head))
  }

  test("files are deleted, those that are not there too") {
    val in = new InStore("deleted")
    Seq("1.delta", "2.delta", "3.delta").foreach(in.begin(_, "rows").close())
    in.files.deleteAll(in.path(""), Seq("1.delta", "2.delta", "4.delta").map(in.path))
    assert(in.names == Seq("3.delta"))
  }

  test("state files in an object store are Holdfast's to write, unless the query names a manager") {
    val objects = new InStore("chosen").path("")
    val local = new Path("file:/tmp/checkpoint")
    def chosen(folder: Path, named: String) = {
      val conf = ObjectFileSystem.settings(new Configuration)
      if (named.nonEmpty)
        conf.set(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key, named)
      StateFileManagers.create(folder, conf).getClass
    }
    val holdfast = classOf[HoldfastCheckpointFileManager]
    val ofUser = classOf[LocalFileManager]
    for (named <- Seq("", TellingFileManager.Silent, holdfast.getName))
      assert(chosen(objects, named) == classOf[ObjectCheckpointFiles])
    assert(chosen(objects, ofUser.getName) == ofUser)
    assert(chosen(local, holdfast.getName) == holdfast)
    assert(chosen(local, "") != classOf[ObjectCheckpointFiles])
  }

  test("Holdfast's manager writes the logs of a query with one request for each file, too") {
    val in = new InStore("logs")
    val manager = new HoldfastCheckpointFileManager(in.path("offsets"), in.conf)
    in.store.takeRequests()
    manager.createAtomic(in.path("offsets/0"), overwriteIfPossible = false).close()
    assert(in.store.takeRequests() == Map("put" -> 1))
  }
}

object ObjectCheckpointFilesSuite {

  final private class InStore(name: String, conditional: Boolean = true) {
    val store = ObjectFileSystem.store(s"files-$name")
    store.isConditional = conditional
    val conf = ObjectFileSystem.settings(new Configuration)
    val files = new ObjectCheckpointFiles(path(""), conf)

    def path(name: String): Path = store.path(s"folder/$name".stripSuffix("/"))

    def begin(name: String, content: String, overwrite: Boolean = true) = {
      val out = files.createAtomic(path(name), overwrite)
      out.write(content.getBytes(UTF_8))
      out
    }

    def read(name: String): String =
      scala.io.Source.fromInputStream(files.open(path(name))).mkString

    def names: Seq[String] = files.list(path("")).map(_.getPath.getName).toSeq.sorted
  }
}
