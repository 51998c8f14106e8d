package io.holdfast.versions

/** What a rebuild starts from.
  *
  * @param snapshot
  *   number of the version; 0 for nothing
  * @param repaired
  *   whether a newer snapshot could not be read
  */
final private[versions] case class LoadedBase(snapshot: Long, repaired: Boolean)
