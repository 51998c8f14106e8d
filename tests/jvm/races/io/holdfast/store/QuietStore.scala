package io.holdfast.store

import io.holdfast.races.MemoryFiles

/** What is done with a store before threads come together in it, and after that. Lincheck does not look
  * at it, so it costs nothing beside the rest.
  */
private object QuietStore {

  /** A store that has four versions in its files, each of which holds its number, and none in memory. */
  def begun(): RacingStore = {
    val before = new RacingStore
    (1 to 4).foreach(version => before.commit(version, version))
    before.parts.close()
    new RacingStore(new MemoryFiles(before.files.all))
  }

  /** That no file is being written any more, and that what is counted is what is in memory. */
  def nothingIsLeft(store: RacingStore): Unit = {
    store.workOff()
    if (store.files.unfinished != 0) fail(s"${store.files.unfinished} files are not ended")
    val kept = store.parts.metrics.memoryUsedBytes
    if (store.held.get != kept) fail(s"${store.held.get} bytes are counted of $kept in memory")
  }

  /** That a store that is closed counts nothing, and that no file is being written any more.
    *
    * @param isClosed
    *   whether it is; to close it once more would give back what was counted since
    */
  def nothingIsCounted(store: RacingStore, isClosed: Boolean): Unit = {
    store.workOff()
    if (!isClosed) store.parts.close()
    if (store.files.unfinished != 0) fail(s"${store.files.unfinished} files are not ended")
    if (store.held.get != 0) fail(s"${store.held.get} bytes are counted after close")
  }

  /** That versions hold the same from the files as in memory, and without their snapshots. */
  def filesAgree(store: RacingStore): Unit =
    Seq(4, 5).filter(number => store.files.all.contains(s"$number.delta")).foreach { number =>
      val value = store.read(number)
      val files = store.files.all
      Seq(files, files - s"$number.snapshot").foreach { content =>
        val found = new RacingStore(new MemoryFiles(content)).read(number)
        if (found != value) {
          fail(s"version $number holds $value, and $found from ${content.keys.toSeq.sorted}")
        }
      }
    }

  private def fail(sentence: String): Nothing = throw new IllegalStateException(sentence)
}
