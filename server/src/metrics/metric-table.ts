/**
 * Every metric of the service itself: its kind, its labels, and its meaning. The one table: the metrics and the reference page
 * are generated from it. INVARIANT: a label takes its values from the source (operations, statuses, work lists,
 * subscribers, the version): never a tenant, an id or a caller's input.
 */
export const metricTable = {
  sallyport_build_info: {
    kind: 'gauge',
    labels: ['version', 'commit'],
    means: 'always 1: the version and the commit of the process, by its labels',
  },
  sallyport_requests_total: {
    kind: 'counter',
    labels: ['operation', 'status'],
    means: 'requests answered, by operationId (`none`: no operation, such as a health check) and HTTP status',
  },
  sallyport_request_duration_seconds: {
    kind: 'histogram',
    labels: ['operation'],
    means: 'time from the request headers to the end of the reply (for a stream: to its start), by operationId',
  },
  sallyport_limited_total: {
    kind: 'counter',
    labels: ['limit'],
    means:
      'requests answered 429: too many requests of a `credential`; too many `invalid_credentials`, `failed_sign_ins`, ' +
      '`begun_sign_ins` or requests of the API `reference` from an address; too many failed sign-ins to an `account`; too many uses of the `refresh` tokens of a session; a further ' +
      '`reminder` of a request too early',
  },
  sallyport_policy_question_duration_seconds: {
    kind: 'histogram',
    labels: [],
    means: 'time that the policy engine took for one policy question; a decision evaluates at least one per place',
  },
  sallyport_policy_faults_total: {
    kind: 'counter',
    labels: [],
    means: 'policy questions that failed in the policy engine: each is denied',
  },
  sallyport_requests_under_way: {
    kind: 'gauge',
    labels: [],
    means: 'requests in flight now; at 1000, further requests are refused with 503',
  },
  sallyport_streams_open: {
    kind: 'gauge',
    labels: [],
    means:
      'open streams of notifications and of changes, not counted as requests in flight; at 1000, further streams are refused with 503',
  },
  sallyport_database_up: {
    kind: 'gauge',
    labels: [],
    means:
      '1 if the database answered this scrape within 2 seconds, else 0; then metrics read from the database are left out',
  },
  sallyport_database_writable: {
    kind: 'gauge',
    labels: [],
    means:
      '1 while the database takes writes, else 0, as on a read-only standby or a full disk; tried at least every 5 seconds, and `/readyz` answers by it',
  },
  sallyport_rights_heard: {
    kind: 'gauge',
    labels: [],
    means:
      '1 while changes of rights by other processes arrive at once, else 0; then every request reads rights from the database',
  },
  sallyport_database_connections: {
    kind: 'gauge',
    labels: ['pool'],
    means:
      'open connections, by pool: `requests`, `confirming` for checking rights before a change commits, `background` for due work and events, `revocation` for revoking access, `watching` for health and metrics',
  },
  sallyport_database_busy: {
    kind: 'gauge',
    labels: ['pool'],
    means: 'transactions in flight in the database',
  },
  sallyport_database_waiting: {
    kind: 'gauge',
    labels: ['pool'],
    means: 'callers that are waiting for a connection now',
  },
  sallyport_database_waits_total: {
    kind: 'counter',
    labels: ['pool'],
    means: 'callers that had to wait for a connection so far',
  },
  sallyport_database_wait_seconds_total: {
    kind: 'counter',
    labels: ['pool'],
    means: 'the total time that callers waited for a connection',
  },
  sallyport_due_work: {
    kind: 'gauge',
    labels: ['list'],
    means: 'due rows of a work list that are not done; 10000: that or more',
  },
  sallyport_due_work_oldest_seconds: {
    kind: 'gauge',
    labels: ['list'],
    means: 'how long the oldest due row of a work list has been due; 0 if nothing is due',
  },
  sallyport_unforeseen_grant_steps: {
    kind: 'gauge',
    labels: [],
    means:
      'changes of grants so far that the life cycle does not allow, whether refused or not; the database logs each. A crash of the database may add up to 32',
  },
  sallyport_stuck_revokes: {
    kind: 'gauge',
    labels: [],
    means:
      'ended grants whose access is still at the target and whose revoke failed 3 times, or that ended more than 5 minutes ago; 10000: that or more',
  },
  sallyport_stuck_revokes_oldest_seconds: {
    kind: 'gauge',
    labels: [],
    means: 'how long ago the oldest grant with a stuck revoke ended; 0 if there is none',
  },
  sallyport_drifted: {
    kind: 'gauge',
    labels: [],
    means:
      'entitlements that were changed at a target by hand and are left so or not yet corrected; 10000: that or more',
  },
  sallyport_oldest_sweep_seconds: {
    kind: 'gauge',
    labels: [],
    means:
      'age of the oldest last complete sweep of any provisioner, from its start; more than 600: its target cannot be listed, or no process sweeps; 0 if there is nothing to sweep',
  },
  sallyport_targets_read_only: {
    kind: 'gauge',
    labels: [],
    means:
      '1 while nothing is changed at any target, since the database was restored or moved and `npm run admin -- adopt` was not typed yet; else 0',
  },
  sallyport_targets_contested: {
    kind: 'gauge',
    labels: [],
    means:
      'provisioners at whose target another Sallyport acts, or another copy of this one, so that nothing is done there; 10000: that or more',
  },
  sallyport_database_clock_jumps_total: {
    kind: 'counter',
    labels: ['direction'],
    means:
      'jumps of the database’s clock by more than 30 s of which this process learned: `back`, after which ends of access move as far, or `ahead`, which ends access early',
  },
  sallyport_target_throttled_total: {
    kind: 'counter',
    labels: ['provisioner_type'],
    means: 'calls that targets of a type throttled; each is repeated later, and counts as no failure',
  },
  sallyport_target_calls_per_second: {
    kind: 'gauge',
    labels: ['provisioner_type'],
    means:
      'calls a second that this process sends at most to the target of a type that throttles most: for `aws-identity-center` 18 while AWS throttles no instance, and at least 0.5',
  },
  sallyport_events_behind: {
    kind: 'gauge',
    labels: ['subscriber'],
    means: 'events that were not delivered to a subscriber yet; 10000: that or more',
  },
  sallyport_event_lag_seconds: {
    kind: 'gauge',
    labels: ['subscriber'],
    means: 'age of the oldest event that was not delivered to a subscriber yet; 0 if there is none',
  },
  sallyport_events_parked: {
    kind: 'gauge',
    labels: ['subscriber'],
    means: 'events that a subscriber failed on and that are retried later; 10000: that or more',
  },
  sallyport_event_quarters_ahead: {
    kind: 'gauge',
    labels: [],
    means:
      'quarters of a year after this one for which the table of events has a partition, up to the first that has none; a start as the owner makes four',
  },
  sallyport_events_outside_quarters: {
    kind: 'gauge',
    labels: [],
    means:
      'events written into the default partition, as PostgreSQL has counted them since its last reset; it stands still where the present quarter has its partition',
  },
  sallyport_deliveries_total: {
    kind: 'counter',
    labels: ['channel_type', 'outcome'],
    means:
      'attempts to deliver an event through a notification channel: `delivered`, `refused` permanently, `try_again` (retried later), or the receiver is `gone`',
  },
  sallyport_mails_total: {
    kind: 'counter',
    labels: ['list', 'outcome'],
    means:
      'attempts to send a mail to a person, by work list (`invitation_mail`, `notification_mail`): `delivered`, `refused` permanently, `try_again` (retried later), `given_up` after the last attempt, or `dropped` without one, because it is not wanted, useful or allowed any more',
  },
  sallyport_deliveries_waiting: {
    kind: 'gauge',
    labels: [],
    means: 'deliveries of notification channels that are neither delivered nor failed; 10000: that or more',
  },
  sallyport_deliveries_waiting_oldest_seconds: {
    kind: 'gauge',
    labels: [],
    means: 'age of the oldest waiting delivery; 0 if there is none',
  },
  sallyport_delivery_lanes_held_up: {
    kind: 'gauge',
    labels: ['channel_type'],
    means:
      'recipient queues whose last attempt failed on the path, so that all their deliveries wait; 10000: that or more',
  },
  sallyport_work_failures_total: {
    kind: 'counter',
    labels: ['list'],
    means: 'runs of due work that failed because of a fault of the service or its database; each is retried',
  },
  sallyport_event_failures_total: {
    kind: 'counter',
    labels: ['subscriber'],
    means: 'events that a subscriber failed on; each is retried',
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
