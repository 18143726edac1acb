/** One change of who may get what. */
export type GainsLine = {
  kind: 'gains' | 'loses' | 'at_once' | 'needs_approval'
  action: string
  people: { count: number; names: readonly string[] }
  accounts: { count: number; names: readonly string[] }
  isAtOnce: boolean
  isEmergency: boolean
}

/** As in: Ada, Ben and 10 more. */
const list = ({ count, names }: GainsLine['people']): string => {
  const shown = names.slice(0, count <= 3 ? 3 : 2)
  const rest = count - shown.length
  const last = rest > 0 ? `${rest} more` : shown.pop()
  return [shown.join(', '), last].filter(Boolean).join(' and ')
}

const peopleOf = ({ count }: GainsLine['people']) => (count === 1 ? '1 person' : `${count} people`)
const one = (count: number, singular: string, plural: string) => (count === 1 ? singular : plural)

/** As in: on payments, on 3 accounts. */
const on = ({ count, names }: GainsLine['accounts']) => (count === 1 ? `on “${names[0]}”` : `on ${count} accounts`)

const change = ({ kind, action, people, accounts, isAtOnce, isEmergency }: GainsLine): string => {
  const what = `${action} ${on(accounts)}${isEmergency ? ' in an emergency' : ''}`
  const how = isAtOnce ? 'at once' : 'with approval'
  const verbs = {
    gains: `${one(people.count, 'gains', 'gain')} ${what}, ${how}`,
    loses: `${one(people.count, 'loses', 'lose')} ${what}`,
    at_once: `${one(people.count, 'needs', 'need')} no approval any more for ${what}`,
    needs_approval: `${one(people.count, 'needs', 'need')} approval from now on for ${what}`,
  }
  return `${peopleOf(people)} ${verbs[kind]}: ${list(people)}.`
}

export const rules = {
  intro: 'Nobody gets access until a rule says so. The rules that you add here are in the policy “Access”.',
  none: 'There is no rule here yet: begin with one of these.',
  notOfRehearsal: 'The two rules of the rehearsal are not listed: they end with it.',
  remove: 'Remove',
  removeNamed: (sentence: string) => `Remove: ${sentence}`,
  removeTitle: 'Remove this rule?',
  removeChangedTitle: 'This rule was changed meanwhile. Remove it as it is now?',
  removeConsequences: {
    permit: (sentence: string) =>
      `“${sentence}” This ends for new requests, unless another rule permits the same. Access that people have now stays until it ends.`,
    forbid: (sentence: string) =>
      `“${sentence}” This ends. Where another rule gives access at once, nobody has to approve it any more.`,
    other: 'What it says no longer counts for new requests. Access that people have now stays until it ends.',
  },
  removeRule: 'Remove rule',
  removed: 'The rule is removed.',
  other: 'A rule that this page cannot say as a sentence:',
  asCedar: 'As Cedar',
  add: 'Add a rule',
  template: 'What should it be about?',
  templates: {
    at_once: 'Read-only at once',
    approval: 'Production needs one approval',
    administrator: 'Administrator rights',
    emergency: 'Emergency',
    working_hours: 'Databases in working hours',
  },
  /** Each with its slots, and `who` at its beginning. */
  sentences: {
    at_once: '{who} may get {action} on {where} for at most {seconds}, at once.',
    approval: '{who} may get access to anything in {where} only after one person approved it.',
    administrator: '{who} may get {action} on {where} for at most {seconds}, after one person approved it.',
    emergency: '{who} may get {action} on {where} in an emergency, for at most {seconds}, at once.',
    working_hours:
      '{who} may get {action} on the databases in {where}, when requested from Monday to Friday between {from} and {until}, for at most {seconds}, at once.',
  },
  notes: {
    at_once: 'Nobody is asked. You yourself still need an approval under a rule that you added.',
    approval:
      'It gives nobody access: it makes an approval necessary where other rules would give access at once. Emergencies stay as they are.',
    administrator: 'Those who may approve are notified, and one of them decides.',
    emergency: 'A reason is required. Everybody who may approve is notified, and it is on record.',
    working_hours:
      'By the clock of your organization’s time zone. The action is the role in the database that people get.',
  },
  slots: {
    who: 'Who',
    action: 'Action',
    where: 'Where',
    seconds: 'For at most',
    from: 'From',
    until: 'Until',
  },
  everyone: 'Everyone',
  group: (name: string) => `Members of ${name}`,
  role: (name: string) => `Everyone with the role ${name}`,
  groups: 'Groups',
  roles: 'Roles',
  /** The end of a day, as in “between 5:00 PM and midnight”. */
  midnight: 'midnight',
  allAccounts: 'all accounts',
  tagged: (tag: string, value: string) => `accounts with ${tag} = ${value}`,
  byTag: 'Accounts by tag',
  oneAccount: 'One account',
  notAll: 'The lists show the first 1,000 entries only.',
  faults: {
    action: 'Name an action that people request, such as ReadOnlyAccess: one line, not “approve”.',
    hours: 'Choose an end that is later than the beginning.',
  },
  save: 'Add rule',
  saved: 'The rule is added.',
  warned: 'The rule is added. Note:',
  gains: {
    title: 'What this changes',
    asking: 'Checking what this changes…',
    change,
    more: (count: number) => (count === 1 ? 'and 1 more change' : `and ${count} more changes`),
    from: (moment: string) => `Not now, but from ${moment}:`,
    nobody: 'Nobody gains anything by this: they can get it already, or the rule is about nobody.',
    noAccounts: 'Nobody gains anything by this: no account is known yet.',
    noPeople: 'Nobody gains anything by this: no person may request access yet.',
    noChange: 'For these accounts, nothing changes now: no other rule gives access to them at once.',
    others: 'Databases and other resources are not listed here, so what changes for them is not counted.',
    cut: 'There may be more: looking took too long.',
    partly: (people: number, accounts: number) =>
      `Only ${people} people and ${accounts} accounts were looked at: there may be more.`,
    notYours: 'You may not see people and accounts, so who gains is not shown.',
  },
}
