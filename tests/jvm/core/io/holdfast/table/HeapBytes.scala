package io.holdfast.table

import java.lang.reflect.{Field, Modifier}
import java.util.IdentityHashMap

import scala.collection.mutable

/** Heap bytes of everything that an object leads to, found by walking it: what counters are checked
  * against. For a 64-bit JVM with compressed references, which is what heaps below 32 GiB have.
  */
object HeapBytes {
  private val Reference = 4

  def of(root: AnyRef): Long = {
    val seen = new IdentityHashMap[AnyRef, AnyRef]
    val waiting = mutable.ArrayDeque[AnyRef](root)
    var bytes = 0L
    while (waiting.nonEmpty) {
      val next = waiting.removeHead()
      if (next != null && seen.put(next, next) == null && !isShared(next)) {
        bytes += sizeOf(next)
        next match {
          case array: Array[AnyRef] => waiting ++= array
          case other if !other.getClass.isArray =>
            waiting ++= fields(other.getClass).filterNot(_.getType.isPrimitive).map(_.get(other))
          case _ => ()
        }
      }
    }
    bytes
  }

  // Classes and singletons are there once, however many versions there are.
  private def isShared(value: AnyRef): Boolean =
    value.isInstanceOf[Class[_]] || value.getClass.getName.endsWith("$") ||
      value.isInstanceOf[Transaction]

  private def sizeOf(value: AnyRef): Long = value match {
    case array if array.getClass.isArray =>
      val length = java.lang.reflect.Array.getLength(array).toLong
      aligned(16 + length * bytesOf(array.getClass.getComponentType))
    case other => aligned(12L + fields(other.getClass).map(field => bytesOf(field.getType)).sum)
  }

  private def fields(of: Class[_]): Seq[Field] =
    if (of == null) Nil
    // The insides of the JDK's own classes cannot be looked at; here they hold nothing large.
    else if (of.getName.startsWith("java.")) Nil
    else {
      val own = of.getDeclaredFields.toSeq.filterNot(field => Modifier.isStatic(field.getModifiers))
      own.foreach(_.setAccessible(true))
      own ++ fields(of.getSuperclass)
    }

  private def bytesOf(kind: Class[_]): Long =
    if (!kind.isPrimitive) Reference.toLong
    else if (kind == classOf[Long] || kind == classOf[Double]) 8L
    else if (kind == classOf[Int] || kind == classOf[Float]) 4L
    else if (kind == classOf[Short] || kind == classOf[Char]) 2L
    else 1L

  private def aligned(bytes: Long): Long = (bytes + 7) & ~7L
}
