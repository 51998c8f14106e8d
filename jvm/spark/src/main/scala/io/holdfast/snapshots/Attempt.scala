package io.holdfast.snapshots

import io.holdfast.checkpoint.{KnownDelta, VersionId}
import io.holdfast.table.Version

/** What an attempt at a version made, for whoever writes a snapshot of it.
  *
  * Of several attempts at a version the last one counts. So an attempt is chosen under the commit
  * lock, and from then on commits know whom to tell that it was replaced.
  *
  * @param delta
  *   its delta, which tells it from attempts of other executors and runs
  */
final private[holdfast] class Attempt(
    val id: VersionId,
    val version: Version,
    val delta: KnownDelta) {

  /** Whether another attempt at the version took its place. */
  @volatile var replaced = false

  /** Whether its snapshot may be in the folder from now on, whatever becomes of writing it. Changed and
    * read under the commit lock.
    */
  var appears = false
}
