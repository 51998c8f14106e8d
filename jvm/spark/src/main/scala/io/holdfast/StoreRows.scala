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
import io.holdfast.python.{DescribedProvider, DescribedStore, ReadStores, WholeStates}

/** The rows of state stores, read and written by the provider that the settings name, from and to
  * uncompressed records without checksums (`jvm/FORMAT.md`): what Python calls through py4j to carry
  * state from and to Spark's RocksDB provider.
  *
  * Needs a running SparkContext; one thread for each store.
  */
object StoreRows {

  // The length of the key that does not follow the last record.
  private val EndMarker = -1

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
    val rows = DescribedProvider.read(provider, described.version)
    try {
      Closing.after(output(Paths.get(records))) { out =>
        var count = 0L
        val iterator: Iterator[UnsafeRowPair] = rows.iterator()
        try {
          iterator.foreach { row =>
            writeRow(out, row.key)
            writeRow(out, row.value)
            count += 1
          }
        } finally close(iterator)
        out.writeInt(EndMarker)
        count
      }
    } finally ReadStores.end(rows)
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
      val count = Closing.after(input(Paths.get(records)))(putAll(_, rows, described))
      rows.commit()
      count
    } finally if (!rows.hasCommitted) rows.abort()
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
    while (keyLength != EndMarker) {
      readRow(in, key, keyLength)
      readRow(in, value, in.readInt())
      rows.put(key, value)
      count += 1
      keyLength = in.readInt()
    }
    count
  }

  private def writeRow(out: DataOutputStream, row: UnsafeRow): Unit = {
    out.writeInt(row.getSizeInBytes)
    row.writeToStream(out, null)
  }

  private def readRow(in: DataInputStream, row: UnsafeRow, length: Int): Unit = {
    val bytes = new Array[Byte](length)
    in.readFully(bytes)
    row.pointTo(bytes, length)
  }

  private def use(store: String)(action: (DescribedStore, StateStoreProvider) => Long): Long = {
    val described = DescribedStore.of(store)
    val provider = DescribedProvider.open(
      described,
      new Configuration(SparkContext.getOrCreate().hadoopConfiguration))
    try action(described, provider)
    finally provider.close()
  }

  private def output(file: Path): DataOutputStream =
    new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))

  private def input(file: Path): DataInputStream =
    new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))
}
