import { variableTable } from '../../src/config/variables.ts'
import { eventTable } from '../../src/events/catalogue.ts'
import type { Operation } from '../../src/http/operation.ts'
import { errorTable } from '../../src/kernel/errors.ts'
import { type Message, paragraphOf } from '../../src/messages/message.ts'
import {
  grantMessage,
  isGrantEvent,
  isRecordEvent,
  isRequestEvent,
  recordMessage,
  requestMessage,
} from '../../src/messages/message-table.ts'
import { metricTable } from '../../src/metrics/metric-table.ts'
import { withheldOfGrant, withheldOfRequest } from '../../src/notifications/notification-facts-store.ts'
import { kindNames, notificationKinds } from '../../src/notifications/notification-kind.ts'
import {
  type Audience,
  audiences,
  notificationRules,
  notifiedEvents,
  otherSide,
  type Rule,
} from '../../src/notifications/notification-rules.ts'
import { permissionGroups } from '../../src/permissions/permission.ts'
import { systemRoles } from '../../src/roles/role.ts'
import { settingKeys, settingTable } from '../../src/settings/setting.ts'
import { mailsPage } from './mails-page.ts'
import { code, type Page, table } from './markdown.ts'
import { grantSamples, recordSamples, requestSamples } from './sample-messages.ts'

/** The reference pages by their paths. */
export function referencePages(operations: Record<string, Operation>): Record<string, string> {
  const pages = {
    configuration: configurationPage(),
    errors: errorsPage(),
    events: eventsPage(),
    mails: mailsPage(),
    metrics: metricsPage(),
    notifications: notificationsPage(),
    operations: operationsPage(operations),
    scopes: scopesPage(),
    settings: settingsPage(),
  }
  return Object.fromEntries(Object.entries(pages).map(([name, page]) => [`docs/reference/${name}.md`, show(page)]))
}

function show({ title, from, about, body }: Page): string {
  return `# ${title}\n\n<!-- Made by \`npm run generate\` from ${from}: change that, not this. -->\n\n${about}\n\n${body}\n`
}

function configurationPage(): Page {
  return {
    title: 'Configuration',
    from: 'server/src/config/config.ts',
    about:
      'What the environment may say. It is read once, at the start; a value of the wrong form refuses the start in one sentence.',
    body: table(
      ['variable', 'default', 'meaning'],
      Object.entries(variableTable).map(([name, about]) => [code(name), about.default, about.means]),
    ),
  }
}

function errorsPage(): Page {
  return {
    title: 'Errors',
    from: 'server/src/kernel/errors.ts',
    about:
      'Every error is an object with `code` (for programs), `message` (for people) and, where there is more to say, ' +
      '`details` and `notices`. A record of another tenant, a record that never existed and an invalid id in a path all get ' +
      'the same `not_found`.',
    body: table(
      ['code', 'status', 'meaning'],
      Object.entries(errorTable).map(([name, { status, means }]) => [code(name), String(status), means]),
    ),
  }
}

function eventsPage(): Page {
  return {
    title: 'Events',
    from: 'server/src/events/catalogue.ts',
    about:
      'Each event is one row, written in the transaction of the change that it records. The row is the audit entry, and ' +
      'notifications are made from it. An event that is not for filters is only in the audit log.',
    body: table(
      ['event', 'for filters', 'meaning'],
      Object.entries(eventTable).map(([name, about]) => [code(name), about.filterable ? 'yes' : 'no', about.means]),
    ),
  }
}

function metricsPage(): Page {
  return {
    title: 'Metrics',
    from: 'server/src/metrics/metric-table.ts',
    about:
      'What `/metrics` on `METRICS_PORT` tells of the service itself. Beside these stand the figures of the process and of ' +
      'Node (`process_…`, `nodejs_…`), among them `nodejs_eventloop_lag_p99_seconds`. What to watch for is on the page ' +
      '[Metrics](../guides/metrics.md).',
    body: table(
      ['metric', 'kind', 'labels', 'meaning'],
      Object.entries(metricTable).map(([name, { kind, labels, means }]) => [
        code(name),
        kind,
        labels.map(code).join(', '),
        means,
      ]),
    ),
  }
}

function notificationsPage(): Page {
  const rows = notifiedEvents.flatMap((type) => {
    if (isRequestEvent(type)) {
      const samples = requestSamples(type).map((facts) => ({ ...facts, ...withheldOfRequest }))
      return notifiedRows(type, notificationRules[type], samples, requestMessage)
    }
    if (isGrantEvent(type)) {
      const samples = grantSamples(type).map((facts) => ({ ...facts, ...withheldOfGrant }))
      return notifiedRows(type, notificationRules[type], samples, grantMessage)
    }
    return isRecordEvent(type) ? notifiedRows(type, notificationRules[type], recordSamples(type), recordMessage) : []
  })
  return {
    title: 'Notifications',
    from: 'server/src/notifications/notification-rules.ts and server/src/messages/',
    about:
      'Who is notified of what, once for each event: of requests, of access, of a suspended user, and of a channel that is gone. How it is asked for, and when reminders come, is on ' +
      'the page [Notifications](../guides/notifications.md).',
    body: `${table(['event', 'notified', 'kind', 'title, for example', 'body, for example'], rows)}

## Kinds

Where mail is set up, notifications are [mailed too](../guides/notifications.md#by-mail), by kind, as each person chooses.

${table(
  ['kind', 'what happened', 'mailed by default'],
  kindNames.map((kind) => {
    const { means, mailed_by_default } = notificationKinds[kind]
    return [code(kind), means, mailed_by_default ? 'yes' : 'no']
  }),
)}`,
  }
}

function notifiedRows<Type extends string, Facts>(
  type: Type,
  { to, kind, when, mail_when }: Rule<Audience, Facts>,
  samples: readonly Facts[],
  write: (type: Type, facts: Facts) => Message,
): string[][] {
  const concerned = samples.filter((facts) => when === undefined || when.holds(facts))
  if (concerned.length === 0) throw new Error(`no sample for \`${type}\` if ${when?.means}`)
  return concerned.map((facts) => {
    const message = write(type, facts)
    return [
      code(type),
      (to === 'other_side' ? otherSide : audiences[to].means) + (when === undefined ? '' : `, if ${when.means}`),
      code(kind) + (mail_when === undefined ? '' : `; mailed if ${mail_when.means}`),
      message.title,
      paragraphOf(message),
    ]
  })
}

function scopesPage(): Page {
  const roles = Object.entries(systemRoles)
  const scopes = permissionGroups.flatMap((group) => group.scopes)
  return {
    title: 'Scopes',
    from: 'server/src/permissions/permission.ts and server/src/roles/role.ts',
    about:
      'What a role or an API key permits, and which of the system roles hold it. Nobody grants a scope that they lack. ' +
      'What is one’s own (requests, grants, notifications) needs no scope to be seen.',
    body: table(
      ['scope', ...roles.map(([id]) => code(id)), 'permits'],
      scopes.map(({ scope, description = '' }) => [
        code(scope),
        ...roles.map(([, role]) => ((role.scopes as readonly string[]).includes(scope) ? '✓' : '')),
        description,
      ]),
    ),
  }
}

function settingsPage(): Page {
  return {
    title: 'Settings',
    from: 'server/src/settings/setting.ts',
    about:
      'What each tenant may set for itself: `PUT /v1/settings/{setting_key}` with `{"value": "…"}`, always text. ' +
      '`GET /v1/settings` lists what holds.',
    body: table(
      ['setting', 'default', 'takes', 'meaning'],
      settingKeys.map((key) => {
        const { default: byDefault, form, means } = settingTable[key]
        return [code(key), byDefault === '' ? 'empty' : code(byDefault), form.allowed, means]
      }),
    ),
  }
}

const credentials = {
  any: 'token, session or API key',
  user: 'token or session',
  token: 'token',
  tenant: 'tenant alone',
  none: 'none',
}

function operationsPage(operations: Record<string, Operation>): Page {
  const byNoun = Map.groupBy(
    Object.entries(operations),
    ([, { path }]) => /^\/v1\/([^/]+)/.exec(path)?.[1] ?? 'keys of tokens',
  )
  const sections = [...byNoun].map(([noun, declared]) => {
    const rows = declared.map(([operationId, operation]) => [
      code(`${operation.method} ${operation.path}`),
      operation.summary,
      credentials[operation.credential],
      operation.scope === null ? '' : code(operation.scope),
      code(operationId),
    ])
    return `## ${noun}\n\n${table(['endpoint', 'what it does', 'credential', 'scope', 'operationId'], rows)}`
  })
  return {
    title: 'Operations',
    from: 'server/src/operations.ts',
    about:
      'Every endpoint. Bodies, replies and errors stand in `/openapi.json` and, to be read, at `/docs` of a running ' +
      'service. All but those without a credential need the header `X-Tenant-ID`. Beside these: `/livez`, `/readyz`, and ' +
      '`/requests/{id}` and `/grants/{id}`, where links of messages lead: they say how to look, and decide nothing.',
    body: sections.join('\n\n'),
  }
}
