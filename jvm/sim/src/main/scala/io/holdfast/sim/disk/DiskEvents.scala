package io.holdfast.sim.disk

import io.holdfast.sim.world.Process

/** What is asked and told about every operation on files. */
trait DiskEvents {

  /** Says that a process is going to do something with a file: others may do something first, and it may
    * fail or be the last that the process does.
    */
  def before(process: Process, what: String, path: String): Unit

  /** Says that it was done. It may fail nevertheless: an answer that is lost. */
  def after(process: Process, what: String, path: String): Unit

  /** Says that a file has appeared under its name. */
  def appeared(process: Process, path: String): Unit

  /** How long a change may be missing from listings. */
  def lateMillis: Int

  /** Whether a listing lacks a late change. */
  def isLate(): Boolean

  /** How many bytes of those that are asked for a read gives. */
  def readable(asked: Int): Int

  /** How many bytes of a write that fails were written nevertheless. */
  def torn(length: Int): Int

  /** After how many bytes of a file a connection is reset, if it is. */
  def resetAfter(process: Process, bytes: Int): Option[Int]

  /** A number that names a temporary file. */
  def number(): Long

  /** The time, in milliseconds since 1970. */
  def millis: Long

  /** What a planted defect makes of the bytes of a file. */
  def written(path: String, bytes: Array[Byte]): Array[Byte]

  /** Whether a file that is finished appears: not with some planted defects. */
  def appears(path: String): Boolean

  /** Whether a file that is deleted takes that of the next version with it: a planted defect. */
  def deletesTooMuch: Boolean

  /** Whether a file is really deleted: not with some planted defects. */
  def deletes(path: String): Boolean
}
