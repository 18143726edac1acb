import { whenFact } from './access-words.ts'
import type { RecordEvent, RecordFacts } from './event-facts.ts'
import type { Draft, Template } from './message.ts'
import {
  changed,
  countIn,
  did,
  listIn,
  momentIn,
  nameOf,
  personIn,
  recordFacts,
  rolesIn,
  rolesMoved,
  textIn,
  yesOrNo,
} from './record-words.ts'

type PeopleEvent = Extract<RecordEvent, `user.${string}` | `group.${string}` | `api_key.${string}`>

/** Messages about users, groups and keys. */
export const peopleMessages: Record<PeopleEvent, Template<RecordFacts>> = {
  'user.created': did('user', 'created {it}', (facts) => ({
    facts: [
      ['Roles', rolesIn(facts, 'roles')],
      ['Signs in by', textIn(facts.data, 'issuer') ?? textIn(facts.data, 'auth_provider')],
      ['Owner', facts.data.is_owner === true ? 'yes' : null],
    ],
  })),
  'user.invited': did('user', 'invited {it}', ({ data }) => ({
    facts: [['By mail', yesOrNo(data.mailed)]],
    next: 'The link makes its user of the person who has it. It works once.',
  })),
  'user.invitation_revoked': did('user', 'ended the invitation of {it}', () => ({
    next: 'Its link does not work any more. A new invitation makes a new one.',
  })),
  'user.joined': (facts) => {
    const title = `${nameOf(facts)} joined by an invitation`
    const byProvider = facts.data.way === 'provider'
    return {
      title,
      facts: [
        ...recordFacts('user', facts),
        ['Address proved by the link', byProvider ? null : yesOrNo(facts.data.proves_address)],
        whenFact(facts),
      ],
      next: byProvider ? 'The sign-in at the provider of the tenant decides who the user is.' : undefined,
    }
  },
  'user.linked': (facts) => {
    const title = `${nameOf(facts)} signed in for the first time`
    return {
      title,
      sentence: `${title}, at the provider that the account was created for.`,
      facts: [...recordFacts('user', facts), ['Provider', textIn(facts.data, 'issuer')], whenFact(facts)],
    }
  },
  'user.updated': did('user', 'changed {it}', changed),
  'user.deactivated': did('user', 'deactivated {it}', () => ({
    next: 'Their requests and their access have ended with it.',
  })),
  'user.reactivated': did('user', 'reactivated {it}', () => ({
    next: 'Access that had ended stays ended: they must request it again.',
  })),
  'user.suspended': did('user', 'suspended {it} for 24 hours', (facts) => ({
    facts: [['Suspended until', momentIn(facts, 'until')]],
    next:
      `The suspension ends by itself at ${momentIn(facts, 'until')}. Their requests and their access have ended with it; ` +
      'their roles stay. To keep them out, deactivate the user.',
  })),
  'user.unsuspended': did('user', 'ended the suspension of {it}', () => ({
    next: 'Access that had ended stays ended: they must request it again.',
  })),
  'user.access_ended': did('user', 'ended all access of {it}', ({ data }) => ({
    facts: [
      ['Requests cancelled', countIn(data, 'requests_cancelled')],
      ['Grants ended', countIn(data, 'grants_ended')],
    ],
    next: 'They stay active, and may request access again.',
  })),
  'user.refresh_token_reused': (facts) => {
    const title = `A refresh token of ${nameOf(facts)} was used twice`
    return {
      title,
      sentence: `${title}, so the session of the program that held it has ended.`,
      facts: [
        ...recordFacts('user', facts),
        ['Used again from', textIn(facts.data, 'source_ip')],
        ['Last used from', textIn(facts.data, 'used_from')],
        ['Last used', momentIn(facts, 'used_at')],
        whenFact(facts),
      ],
      next:
        'Either the program lost an answer, or somebody copied its token. If the program did not do it, change the password, ' +
        'end all other sessions, and look for what was done with them in the audit log.',
    }
  },
  'user.removal_refused': (facts) => {
    const title = `A directory tried to remove ${nameOf(facts)}, the last owner`
    return {
      title,
      sentence: `${title}. It was refused: a tenant keeps an active owner.`,
      facts: [...recordFacts('user', facts), whenFact(facts)],
      next: 'If the person has left, make another user an owner first. Else correct it in the directory.',
    }
  },
  'user.deleted': did('user', 'deleted {it}', () => ({ next: 'Their requests and their access have ended with it.' })),
  'group.created': did('group', 'created {it}', ({ data }) => ({ facts: [['Kept by', textIn(data, 'source')]] })),
  'group.updated': did('group', 'changed {it}', changed),
  'group.deleted': did('group', 'deleted {it}', () => ({ next: 'Its members have lost the roles that it gave them.' })),
  'group.member_added': (facts) => member(facts, `made ${personIn(facts, 'user_id')} a member of`),
  'group.member_removed': (facts) => member(facts, `took ${personIn(facts, 'user_id')} out of`),
  'group.role_mappings_changed': did('group', 'changed the roles that {it} gives', rolesMoved),
  'api_key.created': did('API key', 'made {it}', (facts) => ({
    facts: [
      ['Acts for', personIn(facts, 'created_by')],
      ['Scopes', listIn(facts.data, 'scopes') ?? 'none'],
      ['Expires', momentIn(facts, 'expires_at') ?? 'never'],
    ],
  })),
  'api_key.revoked': did('API key', 'revoked {it}', () => ({ next: 'Requests that still send it are refused.' })),
}

function member(facts: RecordFacts, deed: string): Draft {
  return {
    title: `${facts.actor} ${deed} the group ${nameOf(facts)}`,
    facts: [...recordFacts('group', facts), ['User', personIn(facts, 'user_id')], whenFact(facts)],
  }
}
