package io.holdfast.metrics;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A snapshot is counted while the store that is opened takes what was counted so far. */
@JCStressTest
@Outcome(id = "10, 100", expect = Expect.ACCEPTABLE, desc = "All is told, by this store or the next.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Something is told twice or never.")
@State
public class CountedSnapshots {
  private final HoldfastMetrics metrics = new HoldfastMetrics(null, null);
  private long millis;
  private long bytes;

  @Actor
  public void maintenance() {
    for (int version = 1; version <= 10; version++) {
      metrics.snapshotWritten(version, 1L, 10L);
    }
  }

  @Actor
  public void task() {
    take();
    take();
    take();
  }

  @Arbiter
  public void result(JJ_Result result) {
    take();
    result.r1 = millis;
    result.r2 = bytes;
  }

  private void take() {
    SnapshotWork work = metrics.takeSnapshots();
    millis += work.millis();
    bytes += work.bytes();
  }
}
