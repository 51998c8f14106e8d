package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{FileOperation, FileOperations, Provider, Put, TestStore}

/** The folder of a store comes with its first file, so that who only reads changes nothing. */
class StoreFolderSuite extends AnyFunSuite {

  private object ReadOnly extends FileOperations {
    override def around[A](operation: FileOperation)(proceed: => A): A = operation.kind match {
      case FileOperation.MakeFolder | FileOperation.Create | FileOperation.Delete =>
        throw new java.io.IOException(s"Permission denied: $operation")
      case _ => proceed
    }
  }

  test("a store that nobody has written to is read without leaving a trace") {
    TestStore.use() { test =>
      assert(test.counts(0).isEmpty)
      val store = test.write(0)
      assert(!test.folder.toFile.exists())
      Put("a", 1).applyTo(store)
      store.commit()
      assert(test.fileNames == Seq("1.delta"))
    }
  }

  test("a store is read without the right to write") {
    TestStore.use() { test =>
      test.commit(0, Put("a", 1))
      val reader = new TestStore(Provider().watched(ReadOnly), test.root)
      try assert(reader.counts(1) == Map("a" -> 1L))
      finally reader.close()
    }
  }
}
