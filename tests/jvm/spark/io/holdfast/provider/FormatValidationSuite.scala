package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, Refusals, TemporaryFolder, TestStore}

/** Files with rows of other columns than the query's
  * (`spark.sql.streaming.stateStore.formatValidation.enabled`), on Holdfast as on Spark's default
  * provider.
  */
class FormatValidationSuite extends AnyFunSuite {

  private val otherKeys = new StructType().add("name", StringType).add("group", StringType)
  private val otherValues = new StructType().add("text", StringType).add("count", LongType)

  /** Reads a store of [[TestRows]] with other settings.
    *
    * @return
    *   the condition of Spark's error, or the number of rows
    */
  private def reading(
      settings: Provider,
      checkValue: Boolean,
      className: String): Either[String, Int] =
    TemporaryFolder.use { root =>
      val written = new TestStore(Provider(), root)
      // A number that cannot be the place of a string.
      written.commit(0, Put("a name of more than one word", -1, "a note"))
      written.close()
      val other = settings
        .by(className)
        .copy(options =
          Map(StateStoreConf.FORMAT_VALIDATION_CHECK_VALUE_CONFIG -> checkValue.toString))
      val read = new TestStore(other, root)
      try Right(read.read(1).iterator().size)
      catch { case Refusals(what) => Left(what) }
      finally read.close()
    }

  private def assertBoth(settings: Provider, checkValue: Boolean = true)(
      expected: Either[String, Int]): Unit =
    Seq(Provider.Spark, Provider.Holdfast).foreach { className =>
      withClue(s"$className: ")(assert(reading(settings, checkValue, className) == expected))
    }

  private val off =
    Provider().set(SQLConf.STATE_STORE_FORMAT_VALIDATION_ENABLED.key -> false)

  private val keyFailure = Refusals.KeyFormat
  private val valueFailure = Refusals.ValueFormat

  test("keys of other columns are refused") {
    assertBoth(Provider(keySchema = otherKeys))(Left(keyFailure))
  }

  test("values of other columns are refused") {
    assertBoth(Provider(valueSchema = otherValues))(Left(valueFailure))
  }

  test("values are not looked at by operators that say so") {
    assertBoth(Provider(valueSchema = otherValues), checkValue = false)(Right(1))
  }

  test("nothing is looked at when it is off") {
    assertBoth(off.copy(keySchema = otherKeys, valueSchema = otherValues))(Right(1))
  }

  test("rows of the right columns are read") {
    assertBoth(Provider())(Right(1))
  }
}
