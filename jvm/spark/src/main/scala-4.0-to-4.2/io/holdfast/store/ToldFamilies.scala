package io.holdfast.store

import io.holdfast.families.FamilyDefinition

/** A version for reading that is told what column family will be read, which Spark does from 4.3 on. */
private[holdfast] trait ToldFamilies {

  /** Takes note of a family that the version may not have. */
  protected def told(definition: FamilyDefinition): Unit
}
