"""What this environment has for Holdfast, and what is in the way, as `holdfast doctor` tells it.

from holdfast_spark.doctor import examine

diagnosis = examine()
print(diagnosis.works, [finding.error for finding in diagnosis.findings])
"""

from holdfast_spark.doctor.diagnosis import Diagnosis, Finding, PysparkFound
from holdfast_spark.doctor.examination import examine

__all__ = ["Diagnosis", "Finding", "PysparkFound", "examine"]
