package io.holdfast

import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream}
import java.nio.file.{Files, Path, Paths}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreProvider,
  UnsafeRowPair
}

import io.holdfast.file.Closing
import io.holdfast.python.{
  DescribedProvider,
  DescribedStore,
  FamilyRows,
  ReadStores,
  RowFile,
  WholeStates
}

/** The rows of state stores, read and written by the provider that the settings name, from and to
  * uncompressed records without checksums (`jvm/FORMAT.md`): what Python calls through py4j to carry
  * state from and to Spark's RocksDB provider. Of a store with column families the number of a table
  * stands in front of each record, and each value of a list is a record, one behind the other.
  *
  * Needs a running SparkContext; one thread for each store.
  */
object StoreRows {

  /** Writes all rows of a store's version to a file.
    *
    * @param store
    *   JSON of a [[DescribedStore]]
    * @param records
    *   path of the file
    * @return
    *   number of rows
    */
  def read(store: String, records: String): Long = use(store) { (described, provider) =>
    Closing.after(output(Paths.get(records))) { out =>
      val count = described.families match {
        case Some(families) => FamilyRows.read(described, families, provider, out)
        case None => readAll(described, provider, out)
      }
      out.writeInt(RowFile.EndMarker)
      count
    }
  }

  /** Makes a store's version of the rows in a file, as a snapshot that needs no version before it.
    * Of Spark's providers the one of RocksDB can do that (`loadEmpty`, Spark 4.2).
    *
    * @param store
    *   JSON of a [[DescribedStore]] whose folder has no files yet
    * @param records
    *   path of the file
    * @return
    *   number of rows
    */
  def write(store: String, records: String): Long = use(store) { (described, provider) =>
    val rows = WholeStates.after(provider, described.version - 1)
    try {
      val count = Closing.after(input(Paths.get(records))) { in =>
        described.families match {
          case Some(families) => FamilyRows.write(families, in, rows)
          case None => putAll(in, rows, described)
        }
      }
      rows.commit()
      count
    } finally if (!rows.hasCommitted) rows.abort()
  }

  private def readAll(
      described: DescribedStore,
      provider: StateStoreProvider,
      out: DataOutputStream): Long = {
    val rows = DescribedProvider.read(provider, described.version)
    try {
      var count = 0L
      val iterator: Iterator[UnsafeRowPair] = rows.iterator()
      try {
        iterator.foreach { row =>
          RowFile.write(out, row.key)
          RowFile.write(out, row.value)
          count += 1
        }
      } finally close(iterator)
      count
    } finally ReadStores.end(rows)
  }

  // Before Spark 4.0 there is nothing to close.
  private def close(rows: Iterator[UnsafeRowPair]): Unit = rows match {
    case open: AutoCloseable => open.close()
    case _ =>
  }

  private def putAll(in: DataInputStream, rows: StateStore, described: DescribedStore): Long = {
    val key = new UnsafeRow(described.key.length)
    val value = new UnsafeRow(described.value.length)
    var count = 0L
    var keyLength = in.readInt()
    while (keyLength != RowFile.EndMarker) {
      RowFile.read(in, key, keyLength)
      RowFile.read(in, value, in.readInt())
      rows.put(key, value)
      count += 1
      keyLength = in.readInt()
    }
    count
  }

  private def use(store: String)(action: (DescribedStore, StateStoreProvider) => Long): Long = {
    val described = DescribedStore.of(store)
    val hadoopConf = new Configuration(SparkContext.getOrCreate().hadoopConfiguration)
    val provider = described.families match {
      case Some(families) => FamilyRows.open(described, families, hadoopConf)
      case None => DescribedProvider.open(described, hadoopConf)
    }
    try action(described, provider)
    finally provider.close()
  }

  private def output(file: Path): DataOutputStream =
    new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))

  private def input(file: Path): DataInputStream =
    new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))
}
