import { duration } from '../kernel/plain-words.ts'
import { whenFact } from './access-words.ts'
import type { RecordEvent, RecordFacts } from './event-facts.ts'
import type { Draft, Fact, Template } from './message.ts'
import { changed, countIn, did, listIn, nameOf, personIn, recordFacts, textIn, yesOrNo } from './record-words.ts'

type SetupEvent = Extract<
  RecordEvent,
  | `setting.${string}`
  | `cloud_accounts.${string}`
  | `notification_channel.${string}`
  | `identity_provider.${string}`
  | `provisioner.${string}`
>

/** How many mappings of claims to groups were changed, or stopped giving their group. */
function mappingsMoved(moved: unknown): Fact[] {
  const count = (name: string): string | null => {
    const all = typeof moved === 'object' && moved !== null ? Reflect.get(moved, name) : undefined
    return Array.isArray(all) && all.length > 0 ? String(all.length) : null
  }
  return [
    ['Claims mapped to groups', count('added')],
    ['Claims no longer mapped', count('removed')],
    ['Mappings that give no group any more', count('out_of_effect')],
  ]
}

const countTitles = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const

/** Messages about the setup of the service, and about drift at targets. */
export const setupMessages: Record<SetupEvent, Template<RecordFacts>> = {
  'setting.updated': (facts) => ({
    title: `${facts.actor} changed the setting ${facts.subject_id}`,
    facts: [
      ['Before', facts.data.old === null ? 'the default' : textIn(facts.data, 'old')],
      ['Now', textIn(facts.data, 'new')],
      ['Client secret', textIn(facts.data, 'client_secret')],
      ...mappingsMoved(facts.data.group_mappings),
      whenFact(facts),
    ],
  }),
  'cloud_accounts.updated': (facts) => ({
    title:
      facts.data.removed === undefined
        ? `${facts.actor} wrote ${countIn(facts.data, 'upserted') ?? 'some'} entries of the account cache`
        : 'The accounts of the rehearsal were removed',
    facts: [['Entries', listIn(facts.data, 'ids')], ['Changed', listIn(facts.data, 'changed')], whenFact(facts)],
  }),
  'cloud_accounts.discovered': (facts) => ({
    title: 'The inventory of a provisioner changed the account cache',
    facts: [
      ...(['added', 'changed', 'removed'] as const).map((what): Fact => [countTitles[what], countIn(facts.data, what)]),
      ['Entries', listIn(facts.data, 'ids')],
      whenFact(facts),
    ],
    next: 'Rules read the tags and units of these accounts.',
  }),
  'notification_channel.created': did('channel', 'created {it}', ({ data }) => ({
    facts: [['Type', textIn(data, 'channel_type')], eventsOf(data), ['Enabled', yesOrNo(data.enabled)]],
  })),
  'notification_channel.updated': did('channel', 'changed {it}', (facts) => ({
    facts: [...changed(facts).facts, eventsOf(facts.data)],
  })),
  'notification_channel.deleted': did('channel', 'deleted {it}', () => ({ next: 'It notifies nobody any more.' })),
  'notification_channel.disabled': (facts) => ({
    title: `The channel ${nameOf(facts)} was switched off: its receiver is gone`,
    sentence: `The receiver of the channel ${nameOf(facts)} said that it is gone for good, so the channel was switched off.`,
    facts: [...recordFacts('channel', facts), whenFact(facts)],
    next: 'It notifies nobody any more. Give it an address that answers, and switch it on again.',
  }),
  'notification_channel.secret_rotated': did('channel', 'rotated the signing secret of {it}', overlap),
  'notification_channel.tested': (facts) => ({
    title: `A test of the channel ${nameOf(facts)}`,
    sentence: `Messages of the channel ${nameOf(facts)} arrive: ${facts.actor} requested this test message.`,
    facts: [whenFact(facts)],
  }),
  'identity_provider.created': did('identity provider', 'set up {it}', ({ data }) => ({
    facts: [['Type', textIn(data, 'provider_type')]],
  })),
  'identity_provider.updated': did('identity provider', 'changed {it}', changed),
  'identity_provider.deleted': did('identity provider', 'deleted {it}', () => ({ next: 'Its SCIM keys are revoked.' })),
  'identity_provider.conflict_found': (facts) => {
    const title = `The directory ${nameOf(facts)} has a user whose address somebody else has`
    return {
      title,
      facts: [...recordFacts('identity provider', facts), ['User here', personIn(facts, 'user_id')], whenFact(facts)],
      next: 'Decide whether they are one person: until then, the directory’s user is not made here.',
    }
  },
  'identity_provider.conflict_settled': did('identity provider', 'settled who a user of {it} is', (facts) => ({
    facts: [['User here', facts.data.user_id === null ? 'nobody' : personIn(facts, 'user_id')]],
  })),
  'identity_provider.mass_removal': (facts) => {
    const { data } = facts
    const title = `The directory ${nameOf(facts)} removes many of its users`
    const counts = `${countIn(data, 'removed')} of ${countIn(data, 'size')}`
    if (data.run_id !== undefined) return stoppedRun(facts)
    return {
      title,
      sentence:
        data.refused === true
          ? `${title}: ${counts} within an hour. Further ones are refused.`
          : `${title}: ${counts} within an hour.`,
      facts: [...recordFacts('identity provider', facts), whenFact(facts)],
      next:
        data.refused === true
          ? 'If that is right, set `mass_removals` of the identity provider to `notify`. Otherwise, find out who changed the directory.'
          : 'If that is wrong, switch the identity provider off, and find out who changed the directory.',
    }
  },
  'identity_provider.sync_requested': did('identity provider', 'had {it} read', ({ data }) => ({
    facts: [
      ['Dry run', yesOrNo(data.dry_run)],
      ['Removals confirmed of run', textIn(data, 'confirms')],
    ],
  })),
  'identity_provider.synced': (facts) => ({
    title: `The directory ${nameOf(facts)} was read, and changed users or groups here`,
    facts: [...recordFacts('identity provider', facts), ...syncFacts(facts), whenFact(facts)],
  }),
  'identity_provider.sync_failed': (facts) => ({
    title: `The directory ${nameOf(facts)} could not be read`,
    facts: [...recordFacts('identity provider', facts), ['Reason', textIn(facts.data, 'error')], whenFact(facts)],
    next: 'Read the reason, and sync again: users and groups that were not written yet stay as they were.',
  }),
  'provisioner.created': did('provisioner', 'set up {it}', ({ data }) => ({
    facts: [
      ['Type', textIn(data, 'provisioner_type')],
      ['Enabled', yesOrNo(data.enabled)],
      ['Corrects drift', yesOrNo(data.corrects_drift)],
    ],
    next: 'Access is given there from now on.',
  })),
  'provisioner.updated': did('provisioner', 'changed {it}', changed),
  'provisioner.deleted': did('provisioner', 'deleted {it}'),
  'provisioner.tested': did('provisioner', 'tested {it}', ({ data }) => ({
    facts: [['Result', data.ok === true ? 'it passed' : `it failed: ${countIn(data, 'failed') ?? 'some'} checks`]],
    next: data.ok === true ? undefined : 'Each check says what is missing: read `checks` of the provisioner.',
  })),
  'provisioner.secret_rotated': did('provisioner', 'rotated secrets of {it}', (facts) => ({
    facts: [['Secrets', listIn(facts.data, 'names')], ...overlap(facts).facts],
  })),
  'provisioner.drifted': drifted,
  'provisioner.orphans_held_back': (facts) => ({
    title: `Look into this: ${nameOf(facts)} holds more lost access than a sweep ends`,
    sentence:
      `After a restore or a failover, ${nameOf(facts)} holds access whose grants are lost, more than Sallyport ends by itself. ` +
      'Each of them waits for a person.',
    facts: [
      ...recordFacts('provisioner', facts),
      ['Found', countIn(facts.data, 'found')],
      ['Ended without a person', `at most ${countIn(facts.data, 'limit')}`],
      whenFact(facts),
    ],
    next: 'Read the orphans of the provisioner, and end those that nobody needs.',
  }),
  'provisioner.orphan_ending': (facts) => ({
    title: `Access at ${nameOf(facts)} whose grant was lost is being ended`,
    facts: [...recordFacts('provisioner', facts), ['Which', textIn(facts.data, 'key')], whenFact(facts)],
  }),
  'provisioner.orphan_ended': (facts) => ({
    title: `Access at ${nameOf(facts)} whose grant was lost is gone`,
    facts: [...recordFacts('provisioner', facts), ['Which', textIn(facts.data, 'key')], whenFact(facts)],
  }),
  'provisioner.contested': contested,
  'provisioner.claimed': (facts) => ({
    title: `${nameOf(facts)} is held by this Sallyport again`,
    sentence: `Access is given and ended at ${nameOf(facts)} again, where another Sallyport acted.`,
    facts: [...recordFacts('provisioner', facts), whenFact(facts)],
  }),
}

function eventsOf(data: RecordFacts['data']): Fact {
  return ['Events', listIn(data, 'event_filters') ?? 'all']
}

function overlap({ data }: RecordFacts): { facts: Fact[] } {
  const seconds = data.overlap_seconds
  const counted = typeof seconds === 'number' && seconds > 0 ? `counts for ${duration(seconds)} more` : 'counts no more'
  return { facts: [['Old secret', counted]] }
}

/** Two that act at one target would undo each other's work. */
function contested(facts: RecordFacts): Draft {
  const title = `Another Sallyport acts at ${nameOf(facts)}`
  return {
    title,
    sentence: `${title}. Nothing is given and nothing is ended there, until an operator says which one is the original.`,
    facts: [
      ...recordFacts('provisioner', facts),
      ['Its installation', textIn(facts.data, 'holder_installation')],
      ['Last seen', textIn(facts.data, 'seen_at')],
      whenFact(facts),
    ],
    next: 'Stop the other one, or this one. On the original, the operator types `npm run admin -- adopt`.',
  }
}

/** Access at a target carries Sallyport's mark, but Sallyport did not grant it. */
function drifted(facts: RecordFacts): Draft {
  const where = facts.subject_id === 'sandbox' ? 'the sandbox' : nameOf(facts)
  const found = `${where} holds access that Sallyport never gave`
  const removed = facts.data.drift === 'removed'
  return removed
    ? {
        title: `${where} lost access that nobody holds`,
        sentence: `Access with Sallyport's mark was removed by hand at ${where}; no grant was affected.`,
        facts: [...recordFacts('provisioner', facts), whenFact(facts)],
      }
    : {
        title: `Look into this: ${found}`,
        sentence: `${found}, although it carries Sallyport's mark.`,
        facts: [
          ...recordFacts('provisioner', facts),
          ['Found', countIn(facts.data, 'found')],
          ['Of them given before history was lost', countIn(facts.data, 'ours')],
          ['Which', listIn(facts.data, 'keys') ?? textIn(facts.data, 'entitlement_id')],
          whenFact(facts),
        ],
        next:
          Number(facts.data.ours ?? 0) > 0
            ? 'What is provably of Sallyport is ended after a second look. For the rest, find out who added it, and take it away by hand.'
            : 'It is left as it is, and Sallyport will not end it: find out who added it, and take it away by hand.',
      }
}

/** What a run changed, as far as it did. */
function syncFacts({ data }: RecordFacts): Fact[] {
  const counts = (data.counts ?? {}) as Record<string, unknown>
  const shown = [
    ['Users made', 'added'],
    ['Users changed', 'changed'],
    ['Users activated', 'enabled'],
    ['Users deactivated', 'disabled'],
    ['To settle', 'to_settle'],
    ['Failed', 'failed'],
    ['Groups made', 'groups_added'],
    ['Groups changed', 'groups_changed'],
  ] as const
  return shown.flatMap(([label, name]): Fact[] => (counts[name] ? [[label, countIn(counts, name)]] : []))
}

/** A sync run that was stopped before it wrote anything. */
function stoppedRun(facts: RecordFacts): Draft {
  const { data } = facts
  const users = Number(data.removed) > 0
  const title = users
    ? `The directory ${nameOf(facts)} would remove many users`
    : `The directory ${nameOf(facts)} would empty many groups`
  const counts = users
    ? `${countIn(data, 'removed')} of ${countIn(data, 'size')}`
    : `${countIn(data, 'groups')} of ${countIn(data, 'groups_before')}`
  return {
    title,
    sentence: `${title}: ${counts}. Nothing was changed.`,
    facts: [...recordFacts('identity provider', facts), ['Sync run', textIn(data, 'run_id')], whenFact(facts)],
    next: 'Look at the changes of the run, and confirm its removals if they are right. Otherwise, find out who changed the directory, or what is read of it.',
  }
}
