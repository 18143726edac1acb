/**
 * Every metric of the service's own: what kind it is, by what it is told apart, and what it means. The one table: the
 * metrics are opened and the reference page is made from it. INVARIANT: a label takes its values from a list in the
 * source (operations, statuses, work lists, subscribers): never a tenant, an id or what a caller sent.
 */
export const metricTable = {
  sallyport_requests_total: {
    kind: 'counter',
    labels: ['operation', 'status'],
    means: 'requests answered, by operationId (`none`: no operation, such as a health check) and HTTP status',
  },
  sallyport_request_duration_seconds: {
    kind: 'histogram',
    labels: ['operation'],
    means: 'time from the head of a request to the end of its answer, of a stream to its beginning, by operationId',
  },
  sallyport_limited_total: {
    kind: 'counter',
    labels: ['limit'],
    means:
      'requests answered 429: too many of a `credential`; too many `invalid_credentials`, `failed_sign_ins` or ' +
      '`begun_sign_ins` of an address; too many failed sign-ins of an `account`',
  },
  sallyport_policy_question_duration_seconds: {
    kind: 'histogram',
    labels: [],
    means: 'time that the policy engine took for one question; a decision asks at least one a place',
  },
  sallyport_policy_faults_total: {
    kind: 'counter',
    labels: [],
    means: 'questions that the policy engine could not answer: each is denied',
  },
  sallyport_requests_under_way: {
    kind: 'gauge',
    labels: [],
    means: 'requests that are being answered now; when it is 1000 the next are refused with 503',
  },
  sallyport_streams_open: {
    kind: 'gauge',
    labels: [],
    means:
      'streams of notifications that are open, not among the requests under way; when it is 1000 the next are refused with 503',
  },
  sallyport_database_up: {
    kind: 'gauge',
    labels: [],
    means: '1 when the database answered this scrape within 2 seconds, else 0; then what only it knows is left out',
  },
  sallyport_rights_heard: {
    kind: 'gauge',
    labels: [],
    means: '1 while changes of rights by other processes are heard at once, else 0; then every request asks for rights',
  },
  sallyport_database_connections: {
    kind: 'gauge',
    labels: ['pool'],
    means:
      'connections that are open: of `requests`, of `background` for due work and events, of `revocation` for what takes access away, of `watching` for health and metrics',
  },
  sallyport_database_busy: {
    kind: 'gauge',
    labels: ['pool'],
    means: 'transactions that are under way in the database',
  },
  sallyport_database_waiting: {
    kind: 'gauge',
    labels: ['pool'],
    means: 'callers that wait for a connection now',
  },
  sallyport_database_waits_total: {
    kind: 'counter',
    labels: ['pool'],
    means: 'callers that ever had to wait for a connection',
  },
  sallyport_database_wait_seconds_total: {
    kind: 'counter',
    labels: ['pool'],
    means: 'how long they waited altogether',
  },
  sallyport_due_work: {
    kind: 'gauge',
    labels: ['list'],
    means: 'rows of a work list whose moment has come and which are not done; 10000: that or more',
  },
  sallyport_due_work_oldest_seconds: {
    kind: 'gauge',
    labels: ['list'],
    means: 'how long ago the moment of the oldest of them came; 0 when nothing is due',
  },
  sallyport_unforeseen_grant_steps: {
    kind: 'gauge',
    labels: [],
    means:
      'changes of a grant so far that its life cycle does not foresee, whether refused or let through; the database logs each. A crash of the database may add up to 32',
  },
  sallyport_stuck_revokes: {
    kind: 'gauge',
    labels: [],
    means:
      'grants that have ended, whose access is still there and has failed to be taken away 3 times or is over for more than 5 minutes; 10000: that or more',
  },
  sallyport_stuck_revokes_oldest_seconds: {
    kind: 'gauge',
    labels: [],
    means: 'how long ago the oldest of them ended; 0 when there is none',
  },
  sallyport_drifted: {
    kind: 'gauge',
    labels: [],
    means: 'what was found changed at a target by hand, and is left so or not yet put right; 10000: that or more',
  },
  sallyport_oldest_sweep_seconds: {
    kind: 'gauge',
    labels: [],
    means:
      'how long ago the sweep began of the provisioner that was compared with the ledger longest ago; more than 600: its target cannot be listed, or nobody sweeps; 0 when there is none to sweep',
  },
  sallyport_events_behind: {
    kind: 'gauge',
    labels: ['subscriber'],
    means: 'events that a subscriber has not looked at yet; 10000: that or more',
  },
  sallyport_event_lag_seconds: {
    kind: 'gauge',
    labels: ['subscriber'],
    means: 'age of the oldest of them; 0 when there is none',
  },
  sallyport_events_parked: {
    kind: 'gauge',
    labels: ['subscriber'],
    means: 'events that a subscriber failed on and tries again later; 10000: that or more',
  },
  sallyport_deliveries_total: {
    kind: 'counter',
    labels: ['channel_type', 'outcome'],
    means:
      'attempts to deliver an event through a notification channel: `delivered`, `refused` for good, to `try_again`, or the receiver is `gone`',
  },
  sallyport_deliveries_waiting: {
    kind: 'gauge',
    labels: [],
    means: 'deliveries of notification channels that are neither delivered nor failed; 10000: that or more',
  },
  sallyport_deliveries_waiting_oldest_seconds: {
    kind: 'gauge',
    labels: [],
    means: 'age of the oldest of them; 0 when there is none',
  },
  sallyport_delivery_lanes_held_up: {
    kind: 'gauge',
    labels: ['channel_type'],
    means: 'recipients to whom the way failed last, so that all that goes there waits; 10000: that or more',
  },
  sallyport_work_failures_total: {
    kind: 'counter',
    labels: ['list'],
    means: 'turns of due work that failed by a fault of the service or its database; each is tried again',
  },
  sallyport_event_failures_total: {
    kind: 'counter',
    labels: ['subscriber'],
    means: 'events that a subscriber failed on; each is tried again',
  },
} as const satisfies Record<string, MetricAbout>

type MetricAbout = { kind: 'counter' | 'gauge' | 'histogram'; labels: readonly string[]; means: string }

type MetricTable = typeof metricTable

/** The names of one kind. */
export type MetricName<Kind extends MetricAbout['kind']> = {
  [Name in keyof MetricTable]: MetricTable[Name]['kind'] extends Kind ? Name : never
}[keyof MetricTable]

/** A value for each label of a metric. */
export type LabelsOf<Name extends keyof MetricTable> = Record<MetricTable[Name]['labels'][number], string>
