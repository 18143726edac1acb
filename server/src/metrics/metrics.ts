import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type LabelsOf, type MetricName, metricTable } from './metric-table.ts'

/** The metrics of this process, for operators. Durations are in seconds. */
export type Metrics = {
  count<Name extends MetricName<'counter'>>(name: Name, labels: LabelsOf<Name>): void
  /** Sets a counter to a total that another component has counted since the start. */
  countedTo<Name extends MetricName<'counter'>>(name: Name, labels: LabelsOf<Name>, total: number): void
  observe<Name extends MetricName<'histogram'>>(name: Name, labels: LabelsOf<Name>, seconds: number): void
  set<Name extends MetricName<'gauge'>>(name: Name, labels: LabelsOf<Name>, value: number): void
  /** Leaves a gauge out until it is set again: an old value is worse than none. */
  leaveOut(name: MetricName<'gauge'>): void
  /** All metrics in the text format of Prometheus, including those of the process and of Node. */
  text(): Promise<string>
}

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE

const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Opens every metric of the table, at zero. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const counters = new Map<string, Counter>()
  const gauges = new Map<string, Gauge>()
  const histograms = new Map<string, Histogram>()
  for (const [name, { kind, labels, means: help }] of Object.entries(metricTable)) {
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (kind === 'counter') counters.set(name, new Counter(options))
    else if (kind === 'gauge') gauges.set(name, new Gauge(options))
    else histograms.set(name, new Histogram({ ...options, buckets }))
  }
  return {
    count: (name, labels) => counters.get(name)?.inc(labels),
    countedTo: (name, labels, total) => {
      const counter = counters.get(name)
      counter?.remove(labels)
      counter?.inc(labels, total)
    },
    observe: (name, labels, seconds) => histograms.get(name)?.observe(labels, seconds),
    set: (name, labels, value) => gauges.get(name)?.set(labels, value),
    leaveOut: (name) => {
      const gauge = gauges.get(name)
      gauge?.reset()
      // After a reset, a gauge without labels is 0, which would be a value too.
      if (metricTable[name].labels.length === 0) gauge?.remove()
    },
    text: () => registry.metrics(),
  }
}
