import { match } from './directory-match.ts'
import { conflicts, connect, push } from './directory-parts.ts'

const number = (count: number): string => count.toLocaleString('en')
const of = (count: number, one: string, many: string): string => `${number(count)} ${count === 1 ? one : many}`
const people = (count: number): string => of(count, 'person', 'people')
const groups = (count: number): string => of(count, 'group', 'groups')

const runs = {
  title: 'Readings',
  none: 'It was never read. Look first: that changes nothing.',
  all: 'Show all readings',
  /** What a reading came to. */
  outcomes: {
    waits: 'Begins',
    going: 'Going on',
    stopped: 'Stopped',
    failed: 'Failed',
    looked: 'Looked',
    read: 'Read',
  },
  by: { schedule: 'by the schedule', person: 'by a person', confirmed: 'with confirmed removals' },
  people: (count: number) => `${people(count)} in the directory:`,
  peopleAlone: (count: number) => `${people(count)} in the directory.`,
  groups: (count: number) => `${groups(count)} in the directory:`,
  groupsAlone: (count: number) => `${groups(count)} in the directory.`,
  nothing: 'Nothing to change.',
  counts: {
    added: (count: number) => `${number(count)} new`,
    adopted: (count: number) => `${number(count)} taken over from the sign-in`,
    changed: (count: number) => `${number(count)} changed`,
    enabled: (count: number) => `${number(count)} active again`,
    disabled: (count: number) => `${number(count)} deactivated`,
    to_settle: (count: number) => `${number(count)} to settle`,
    left_out: (count: number) => `${number(count)} left out`,
    failed: (count: number) => `${number(count)} failed`,
    groups_added: (count: number) => `${number(count)} new`,
    groups_changed: (count: number) => `${number(count)} changed`,
    groups_emptied: (count: number) => `${number(count)} emptied`,
    groups_failed: (count: number) => `${number(count)} failed`,
  },
  /** Before the counts of a look, and of a reading that was stopped. */
  wouldBe: 'Nothing was changed. This would happen:',
  ended: (grants: number, seconds: string) =>
    `${of(grants, 'grant', 'grants')} ended, ${grants === 1 ? '' : 'all '}gone at the target within ${seconds}.`,
  endedAtOnce: (grants: number) => `${of(grants, 'grant', 'grants')} ended.`,
  ending: (gone: number, grants: number) =>
    `${number(gone)} of ${of(grants, 'grant', 'grants')} ${gone === 1 ? 'is' : 'are'} gone at the target so far.`,
  see: 'See what changed',
  seePlan: 'See what would change',
  seeProgress: 'See how far it is',
  progress: {
    begins: 'It begins in a moment.',
    reading: (some: number, ofThem: number) => `It reads: ${people(some)} and ${groups(ofThem)} so far.`,
    people: (done: number, total: number) => `It writes people: ${number(done)} of ${of(total, 'change', 'changes')}.`,
    groups: (done: number, total: number) => `It writes groups: ${number(done)} of ${of(total, 'change', 'changes')}.`,
  },
}

const run = {
  title: (directory: string) => `Reading of ${directory}`,
  lookTitle: (directory: string) => `Look at ${directory}`,
  back: 'Back to the directory',
  changes: 'What changed',
  plan: 'What would change',
  change: 'Change',
  anyChange: 'Every change',
  outcome: 'Outcome',
  anyOutcome: 'Every outcome',
  changeKinds: {
    absent: 'No longer in the directory',
    disable: 'Disabled in the directory',
    empty: 'Group loses its members',
    add: 'New',
    adopt: 'Taken over from the sign-in',
    change: 'Changed',
    enable: 'Active again',
    settle: 'Address is taken: to settle',
    left_out: 'Left out',
    invalid: 'Data cannot be used',
  },
  outcomeKinds: { planned: 'Not done', done: 'Done', refused: 'Refused', none: 'Nothing to do' },
  group: 'Group',
  none: 'It changes nobody.',
  noMatch: 'Nothing matches.',
  clear: 'Clear filters',
  noRight: 'Who it changes is for those who may see people.',
  forgotten: 'The changes of the last ten readings are kept.',
  readNow: 'Looks right? Then have it read.',
}

const removals = {
  title: (count: number) => (count === 1 ? '1 person would go' : `${number(count)} people would go`),
  groupsTitle: (count: number) =>
    count === 1 ? '1 group would lose its members' : `${number(count)} groups would lose their members`,
  unchanged:
    'Nobody was changed. If these are right, confirm them. If not, correct the directory, or how it is read, and read it again.',
  absent: 'See who is no longer in the directory',
  disabled: 'See who is disabled there',
  emptied: 'See the groups',
  act: (count: number) => (count === 1 ? 'Let 1 person go' : `Let ${number(count)} people go`),
  groupsAct: (count: number) => (count === 1 ? 'Empty 1 group' : `Empty ${number(count)} groups`),
  question: (count: number) => (count === 1 ? 'Let 1 person go?' : `Let ${number(count)} people go?`),
  groupsQuestion: (count: number) => (count === 1 ? 'Empty 1 group?' : `Empty ${number(count)} groups?`),
  consequences: (some: number, ofThem: number) => {
    const parts = [
      some > 0 && `${people(some)} can no longer sign in: their sessions, requests and access end at once.`,
      ofThem > 0 &&
        `${groups(ofThem)} ${ofThem === 1 ? 'loses its members and keeps its' : 'lose their members and keep their'} roles.`,
    ]
    const what = parts.filter((part) => part !== false).join(' ')
    return `${what} The directory is read again first, and only those whom this reading named can go.`
  },
  noRight: 'To confirm it takes the right to read directories and to change people.',
}

export const directories = {
  title: 'Directories',
  intro: 'Users and groups come from your directories. Who is stopped there loses sessions, requests and access here.',
  none: 'No directory is connected: people join by an invitation. Connect one, and it makes your users, and stops those who leave.',
  noneToRead: 'No directory is connected.',
  connectOne: 'Connect a directory',
  noSync: 'You may see this directory, and not have it read.',
  ways: {
    push: 'Pushes over SCIM',
    ldap: 'Read over LDAP',
    scim: 'Read over SCIM',
    center: 'AWS Identity Center',
  },
  services: { chat_service: 'Chat service', code_hosting: 'Code hosting', incident_service: 'Incident service' },
  states: {
    off: 'Switched off',
    reading: 'Being read',
    looking: 'Looking',
    waits: 'Waits for confirmation',
    failed: 'Failed',
    silent: 'Not yet',
    inOrder: 'In order',
  },
  silentPush: 'It has not called yet.',
  silentRead: 'It was not read yet.',
  calledAt: (moment: string) => `Last called ${moment}`,
  readAt: (moment: string) => `Last read ${moment}`,
  schedule: {
    every: (minutes: number) => (minutes === 1 ? 'Read every minute.' : `Read every ${number(minutes)} minutes.`),
    notYet: 'The schedule begins with the first reading that succeeds.',
    never: 'It has no schedule: it is read when somebody asks for it.',
    next: (moment: string) => `Next ${moment}.`,
    onlyLooks: 'Each reading only looks, by its settings.',
  },
  look: 'Look first',
  readNow: 'Read now',
  again: 'Look again',
  lookMeans: 'To look reads everything and changes nothing.',
  off: 'It is switched off: nothing that it sends or has is taken.',
  switchOn: 'Switch on',
  switchOff: 'Switch off',
  switchOffTitle: (name: string) => `Switch ${name} off?`,
  switchOffConsequences:
    'Its users stay as they are, also those who leave: nobody is stopped by it until it is switched on again. A reading that goes on ends.',
  switchOffAct: 'Switch off',
  switchedOn: 'It is switched on.',
  switchedOff: 'It is switched off.',
  runs,
  run,
  removals,
  conflicts,
  push,
  match,
  connect,
}
