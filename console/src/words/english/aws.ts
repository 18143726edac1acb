const number = (count: number): string => count.toLocaleString('en')
const of = (count: number, one: string, many: string): string => `${number(count)} ${count === 1 ? one : many}`

// British: no comma before the last.
const listFormat = new Intl.ListFormat('en-GB')

export const aws = {
  title: 'AWS',
  intro: 'People request access to your AWS accounts here, and get it by IAM Identity Center.',
  three: 'Three answers connect AWS: region, account, go.',
  connection: 'Connection',
  connectAnother: 'Connect another',
  states: {
    role: 'The role in AWS comes next.',
    test: 'The test found something to fix.',
    on: 'The test passed. It is not turned on yet.',
    isOn: 'It is on: access is given in AWS.',
  },
  acts: { role: 'Make the role', test: 'See the test', on: 'Turn it on', isOn: 'Open AWS' },
  steps: {
    answers: 'Region and account',
    role: 'Make the role in AWS',
    test: 'Test',
    sight: 'What Sallyport sees',
    on: 'Turn on',
  },
  done: 'Done',
  next: 'Next',
  todo: 'To do',
  noWrite: 'You may see this connection, and not change it.',
  nothingYet: 'AWS is not connected.',
  answers: {
    form: 'Connect AWS',
    region: 'Region',
    regionHint: 'Where IAM Identity Center is enabled, such as eu-central-1.',
    regionWrong: 'Enter a region, such as eu-central-1.',
    account: 'Account',
    accountHint:
      '12 digits: the management account of your organization, or the one to which Identity Center is delegated.',
    accountWrong: 'Enter the 12 digits of the account.',
    go: 'Go',
    given: (account: string, region: string) => `Account ${account}, in ${region}.`,
  },
  role: {
    identity: 'AWS knows Sallyport as',
    trusts: 'The snippet makes one role, which only Sallyport can take, and only with the external id in it.',
    once: 'It is shown only now. Apply it before you leave this page.',
    form: 'Apply it with',
    snippet: 'Snippet',
    copy: 'Copy the snippet',
    download: (file: string) => `Download ${file}`,
    run: 'Put the file into a folder, sign in to the account, and run there:',
    command: 'Command',
    copyCommand: 'Copy the command',
    lost: 'The snippet was shown once, when its external id was made. If you applied it, test. If it is lost, make a new external id: the snippet comes with it.',
    trusted: 'The role lets Sallyport in.',
    renew: 'Make a new external id',
    renewTitle: 'Make a new external id?',
    renewConsequences:
      'The one before works for another day. Apply the new snippet by then: without it, Sallyport can neither give nor remove access in AWS.',
    renewAct: 'Make a new id',
  },
  test: {
    test: 'Test',
    again: 'Test again',
    intro: 'It changes nothing in AWS.',
    running: 'It runs…',
    lines: 'Checks',
    kinds: {
      identity: 'Sallyport has an identity of its own',
      role: 'The role can be assumed, with the external id',
      instance: 'The instance of Identity Center',
      store: 'The identity store',
      organization: 'The organization',
      sets: 'The permission sets',
      rights: 'Giving and removing access',
    },
    states: { ok: 'Passed', failed: 'Failed', pending: 'Not checked yet' },
    passed: (at: string) => `Everything passed at ${at}.`,
    failed: (count: number, at: string) =>
      `${of(count, 'check', 'checks')} failed at ${at}. What to do stands beside each.`,
  },
  sight: {
    before: 'After the test, Sallyport reads here what AWS holds. It decides nothing by it.',
    reading: 'Sallyport reads AWS. This page follows.',
    seen: (accounts: number, sets: number, people: number) =>
      `${of(accounts, 'account', 'accounts')}, ${of(sets, 'permission set', 'permission sets')}, ${of(people, 'person', 'people')}.`,
    /** Empty where there are none of them. */
    more: (units: number, databases: number, groups: number) => {
      const parts = [
        units > 0 && of(units, 'organizational unit', 'organizational units'),
        databases > 0 && of(databases, 'database', 'databases'),
        groups > 0 && of(groups, 'group', 'groups'),
      ].filter((part) => part !== false)
      return parts.length === 0 ? '' : `Also ${listFormat.format(parts)}.`
    },
    parts: {
      accounts: 'Accounts',
      permission_sets: 'Permission sets',
      people: 'People',
      databases: 'Databases',
      assignments: 'Assignments',
    },
    failed: (part: string) => `${part} could not be read:`,
    note: (part: string) => `${part}:`,
    asOf: 'As of',
    refresh: 'Read again',
    allMatch: 'Everybody here matches a person in AWS.',
    unmatched: (count: number, isMore: boolean): string => {
      const many = `${number(count)}${isMore ? ' or more' : ''}`
      return count === 1 && !isMore ? '1 person does not match.' : `${many} people do not match.`
    },
    unmatchedText: 'Sallyport finds no user in AWS for them: access that is approved for them cannot be given.',
    unmatchedList: 'People who do not match',
    otherDomain: 'Of another domain than user names in AWS',
    lookedFor: (login: string) => `Looked for: ${login}`,
    longSessions: (longest: string) =>
      `Sessions of these sets may go on after the longest access, of ${longest}. Shorten them in AWS:`,
    longSessionList: 'Permission sets with long sessions',
    session: (duration: string) => `sessions of ${duration}`,
  },
  on: {
    serves: 'It gives access to',
    kinds: {
      cloud_account: 'Accounts, with permission sets and organizational units',
      cloud_db_instance: 'Databases',
      cloud_storage_bucket: 'Buckets',
      cloud_compute_instance: 'Machines',
    },
    servesHint: 'Databases and buckets need an entry in the configuration first.',
    servesNamed: 'It gives access to what its configuration names.',
    servesNothing: 'Choose at least one.',
    testFirst: 'It can be turned on when the test has passed.',
    act: 'Turn on',
    title: 'Turn on access in AWS?',
    goesLive: 'This tenant goes live, for good: the rehearsal ends, and what it made is removed.',
    consequences: 'From now on, access that is approved is given in AWS.',
    factorFirst: 'A live tenant asks you for a second factor, and shows nothing before.',
    setUpFactor: 'Set one up first.',
    live: 'This tenant is now live.',
    liveText: 'Access that is approved is given in AWS, and removed there at its end.',
    request: 'Request access',
  },
  standing: {
    title: 'Standing access',
    intro: 'Who holds which permission set where in AWS, whether or not Sallyport gave it.',
    total: (assignments: number, administrators: number) =>
      `${of(assignments, 'assignment', 'assignments')}, ${of(administrators, 'administrator', 'administrators')}`,
    order: 'Order',
    byAccount: 'By account',
    byPerson: 'By person',
    administrators: 'Administrators only',
    search: 'Search',
    searchHint: 'The beginning of a name, an account number or a permission set.',
    csv: 'Download CSV',
    administrator: 'Administrator',
    given: 'Given by Sallyport',
    group: 'Group, no members known',
    viaGroup: (group: string) => `by the group ${group}`,
    none: 'Nobody holds anything in AWS.',
    noMatch: 'Nothing matches.',
    clear: 'Clear filters',
  },
}
