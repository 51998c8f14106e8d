package io.holdfast.sim.run

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII

import io.holdfast.file.StateFile
import io.holdfast.sim.families.FamilyFileContent
import io.holdfast.sim.world.{Plan, SimRandom}
import io.holdfast.table.{Family, ListPart}

/** A file of a store with column families that says something else than what was to be written. */
abstract class FamilyDefect(name: String, kind: StateFile.Kind) extends Defect(name) {

  /** What the file says instead; the same object for what it says. */
  protected def changed(content: FamilyFileContent, random: SimRandom): FamilyFileContent

  // Checksums would tell, whatever else does.
  override def plan(plan: Plan): Plan = plan.copy(rowChecksums = false, fileChecksums = false)

  override def written(path: String, bytes: Array[Byte], random: SimRandom): Array[Byte] =
    if (path.endsWith(s".${kind.suffix}") && hasFamilies(bytes)) {
      val content = FamilyFileContent.of(path, kind, bytes)
      val made = changed(content, random)
      if (made eq content) bytes else made.bytes
    } else bytes

  private def hasFamilies(bytes: Array[Byte]): Boolean = bytes.startsWith(FamilyDefect.Magic)
}

object FamilyDefect {
  private val Magic = "HOLDFAST".getBytes(US_ASCII)

  /** A delta does not say that families are no more. */
  case object SurvivingFamily extends FamilyDefect("surviving-family", StateFile.Delta) {
    override protected def changed(
        content: FamilyFileContent,
        random: SimRandom): FamilyFileContent =
      if (content.families.removed.isEmpty) content
      else content.copy(families = content.families.copy(removed = Nil))
  }

  /** A delta does not say that a family lost its rows before it was defined anew. */
  case object ForgottenRedefinition
      extends FamilyDefect("forgotten-redefinition", StateFile.Delta) {
    override protected def changed(
        content: FamilyFileContent,
        random: SimRandom): FamilyFileContent = {
      val families = content.families
      val defined = families.defined.map(_.id).toSet
      if (!families.removed.exists(defined)) content
      else content.copy(families = families.copy(removed = families.removed.filterNot(defined)))
    }
  }

  /** A delta does not say how families are defined of which it has no rows. */
  case object MissingDefinition extends FamilyDefect("missing-definition", StateFile.Delta) {
    override protected def changed(
        content: FamilyFileContent,
        random: SimRandom): FamilyFileContent = {
      val withRows = content.records.map(record => Family.idOfTable(record.table)).toSet
      val defined = content.families.defined
      val told = if (random.chance(0.2)) defined.filter(family => withRows(family.id)) else defined
      if (told.size == defined.size) content
      else content.copy(families = content.families.copy(defined = told))
    }
  }

  /** A snapshot has the values of lists in another order. */
  case object TurnedLists extends FamilyDefect("turned-lists", StateFile.Snapshot) {
    override protected def changed(
        content: FamilyFileContent,
        random: SimRandom): FamilyFileContent = {
      val lists = content.families.defined.filter(_.hasManyValues).map(_.id).toSet
      content.copy(records = content.records.map { record =>
        if (!lists(Family.idOfTable(record.table))) record
        else record.copy(value = record.value.map(turned))
      })
    }

    private def turned(part: Array[Byte]): Array[Byte] = {
      var at = ListPart.HeaderBytes
      val values = Vector.fill(ListPart.values(part, 0)) {
        val size = ListPart.LengthBytes + ListPart.length(part, at)
        at += size
        part.slice(at - size, at)
      }
      val made = ByteBuffer.allocate(part.length)
      made.put(part, 0, ListPart.HeaderBytes)
      values.reverseIterator.foreach(made.put(_))
      made.array
    }
  }
}
