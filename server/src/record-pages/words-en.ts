import { type Html, html } from '../kernel/html.ts'

/** Who requests what, where, and for how long; `time` is absent where the request names none. */
export type Asked = { who: Html; what: Html; where: Html; time: Html | undefined }

const forTime = (time: Html | undefined) => (time === undefined ? '' : html` for ${time}`)

const nouns: Readonly<Record<string, string>> = {
  cloud_account: 'account',
  cloud_permission_set: 'permission set',
  cloud_storage_bucket: 'bucket',
  cloud_db_instance: 'database',
  cloud_compute_instance: 'instance',
  cloud_organizational_unit: 'organizational unit',
}

/** What the pages say. Each entry is a text, or a pure function of what the text is about. */
export const english = {
  language: 'en',
  rehearsal: 'Rehearsal: nothing here is real',
  live: 'live',
  openInConsole: 'Open in the console',
  back: 'Back',
  checkAgain: 'Check again',
  note: 'Note',
  atTime: (time: string) => `at ${time}`,
  onDay: (day: string, time: string) => `on ${day} at ${time}`,
  /** As in: Ada, Ben or Kim; Ada, Ben and 2 more. */
  people: (names: readonly string[], count: number) => {
    const shown = names.slice(0, names.length <= 3 && count <= 3 ? 3 : 2)
    const others = count - shown.length
    return others > 0
      ? `${shown.join(', ')} and ${others} more`
      : [shown.slice(0, -1).join(', '), shown.at(-1)].filter(Boolean).join(' or ')
  },

  states: {
    waiting: 'Waiting',
    approved: 'Approved',
    denied: 'Denied',
    unanswered: 'No answer',
    cancelled: 'Cancelled',
    starting: 'Starting',
    active: 'Active',
    ending: 'Ending',
    ended: 'Ended',
    endedEarly: 'Ended early',
    failed: 'Failed to start',
    stillHeld: 'Still has access',
    drifted: 'Changed by hand',
    emergency: 'Emergency',
    highRisk: 'High risk',
  },

  request: {
    title: (who: string, what: string) => `${who} requests ${what}`,
    sentence: ({ who, what, where, time }: Asked) => html`${who} requests ${what} on ${where}${forTime(time)}.`,
    extension: ({ who, what, where, time }: Asked) =>
      html`${who} asks for more time of ${what} on ${where}${forTime(time)}.`,
    reasonBy: (who: Html) => html`Reason, as written by ${who}`,
    noReason: 'No reason was given.',
    place: (type: string, id: Html) => html`${nouns[type] ?? type} ${id}`,
    places: (count: number) => `${count} accounts`,
    accounts: 'Accounts',
    risk: 'Risk',
    riskNormal: 'Normal',
    riskHigh: (reasons: readonly string[]) => `High: ${reasons.join('; ')}`,
    riskReasons: {
      break_glass: 'it is an emergency',
      administrator: 'it gives administrator rights',
      sensitive_account: 'the account is marked as sensitive',
    },
    allows: 'What this allows',
    about: (who: Html) => html`About ${who}`,
    groups: 'Groups',
    noGroups: 'None',
    recent: 'The last 30 days',
    recentFirst: 'The first request of this kind',
    recentCount: (count: number, denied: number) =>
      `${count === 1 ? '1 such request' : `${count} such requests`}${denied > 0 ? `, ${denied} denied` : ''}`,
    usual: 'Usually',
    why: 'Why approval is needed',
    policy: (name: Html) => html`The policy “${name}” requires an approval.`,
    comments: 'Comments',
    moreComments: 'There are more comments in the console.',
    timeline: 'Timeline',
    access: 'Access',
    moreGrants: 'There is more access in the console.',
  },

  decision: {
    decide: 'Your decision',
    mayNot: 'You cannot decide this request',
    own: 'You cannot decide your own request.',
    deciders: (names: string) => `${names} can approve.`,
    nobody: 'Nobody can approve this. Ask an administrator.',
    approve: 'Approve',
    deny: 'Deny',
    cancel: 'Cancel request',
    remind: 'Remind them',
    reminded: (when: Html) => html`You reminded them ${when}.`,
    remindAgain: (at: Html) => html`You may remind them again from ${at}.`,
    approvedBy: (who: Html, when: Html) => html`${who} approved this ${when}.`,
    approvedByRule: (when: Html) => html`A rule approved this ${when}.`,
    deniedBy: (who: Html, when: Html) => html`${who} denied this ${when}.`,
    youApproved: (when: Html) => html`You approved this ${when}.`,
    youDenied: (when: Html) => html`You denied this ${when}.`,
    shorter: (given: string, asked: string) => `For ${given} of the ${asked} requested.`,
    noteBy: (who: Html) => html`Note, as written by ${who}`,
    unanswered: 'Nobody decided in time. If the access is still needed, request it again.',
    cancelled: 'The request was cancelled.',
    emergency: 'Access began without an approver.',
    lost: {
      approved: (who: Html, when: Html) => html`${who} approved this ${when}. Nothing left to do.`,
      denied: (who: Html, when: Html) => html`${who} denied this ${when}. Nothing left to do.`,
      approvedByYou: 'You have approved this already. Nothing left to do.',
      deniedByYou: 'You have denied this already. Nothing left to do.',
      cancelled: 'The request was cancelled. Nothing left to do.',
      expired: 'The request waited too long and has expired. Nothing left to do.',
    },
  },

  confirm: {
    approve: 'Approve this request?',
    deny: 'Deny this request?',
    cancel: 'Cancel the request?',
    end: 'End this access?',
    approveAll: (time: string) => `Approve for ${time}`,
    approveButton: 'Approve',
    denyButton: 'Deny request',
    cancelButton: 'Cancel request',
    endButton: 'End access',
    cancelMeans: 'Nobody can approve it any more. You can send another one.',
    endMeans: (who: Html) => html`${who} loses the access now. A session that is already open may go on for a while.`,
    endMeansYou: 'You lose the access now. A session that is already open may go on for a while.',
    forTime: 'For',
    asRequested: (time: string) => `${time}, as requested`,
    noteOptional: 'Note (optional)',
    noteShown: (who: Html) => html`${who} can read it.`,
    noteMissing: 'Write why you deny it, so that the requester knows what to change.',
    noteTooLong: 'The note has more than 2,000 characters. Shorten it.',
    alreadyEnded: 'It has already ended.',
    anotherPerson: 'Another person has signed in in this browser since this form was opened. Nothing was sent.',
    busy: 'Your first click is being processed. Reload the page in a moment.',
  },

  grant: {
    title: (who: string, what: string) => `${who}: ${what}`,
    sentence: ({ who, what, where }: Omit<Asked, 'time'>) => html`${who}: ${what} on ${where}.`,
    has: ({ who, what, where }: Omit<Asked, 'time'>, until: Html) =>
      html`${who} has ${what} on ${where} until ${until}.`,
    gets: ({ who, what, where }: Omit<Asked, 'time'>, time: Html) => html`${who} gets ${what} on ${where} for ${time}.`,
    had: ({ who, what, where }: Omit<Asked, 'time'>, until: Html) =>
      html`${who} had ${what} on ${where} until ${until}.`,
    stillHas: ({ who, what, where }: Omit<Asked, 'time'>) =>
      html`${who} still has ${what} on ${where}: the target has not confirmed the end. Sallyport tries again.`,
    failed: ({ who, what, where }: Omit<Asked, 'time'>) => html`${who} did not get ${what} on ${where}.`,
    until: (at: Html) => html`until ${at}`,
    endedBy: (who: Html, when: Html) => html`Ended by ${who} ${when}.`,
    sessions: (at: Html) => html`Sessions that are already open may go on until ${at}.`,
    target: 'The target says',
    endReason: 'Why it ended',
    end: 'End access',
    extend: 'Extend in the console',
    open: 'Details',
    request: 'The request',
    connect: 'How to connect',
    into: (path: Html) => html`Add to ${path}:`,
  },

  timeline: {
    requested: (who: Html) => html`${who} requested it`,
    reminded: (who: Html) => html`${who} reminded those who may decide`,
    commented: (who: Html) => html`${who} commented`,
    approved: (who: Html) => html`${who} approved it`,
    approvedByRule: 'Approved by a rule',
    denied: (who: Html) => html`${who} denied it`,
    expired: 'Nobody decided in time',
    cancelled: 'Cancelled',
    began: 'The target confirmed the access',
    ends: 'Ends',
    ended: 'Ended',
  },

  signIn: {
    title: 'Sign in',
    intro: 'Sign in to see what this link leads to.',
    over: 'Your session is over. Sign in to go on.',
    noteKept: 'Sign in to go on. Your note is kept.',
    noteNotKept: 'Sign in to go on. Your note is too long to be kept: copy it from here.',
    again: 'This needs a more recent sign-in. Sign in again.',
    email: 'E-mail',
    passphrase: 'Passphrase',
    passphraseHint: 'Leave it empty if your organization has its own sign-in.',
    whichOrganization: 'Which organization?',
    organization: 'Organization',
    organizationHint: 'Its short name or its id. Needed only where your address does not say it.',
    button: 'Sign in',
    wrong: 'The address or the passphrase is wrong, or you belong to another organization. Check all three.',
    emailMissing: 'Write your e-mail address, or name your organization.',
    passphraseMissing: 'Write your passphrase.',
    organizationWrong: 'This is not a short name of an organization. Use letters, digits and hyphens.',
    wait: (seconds: number) =>
      `Too many attempts. Try again in ${seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`}.`,
    provider: 'Sign in at your organization',
    providerIntro: 'Your organization has its own sign-in. You come back here afterwards.',
    providerButton: 'Continue to your organization’s sign-in',
    withPassphrase: 'Sign in with a passphrase instead',
    providerFailed: 'The sign-in at your organization did not succeed. Try again.',
    providerNotSet:
      'Your organization has no sign-in of its own that leads back to this page. Use your passphrase, or the console.',
    factor: 'Second factor',
    factorNeeded:
      'Your roles need a sign-in with a second factor. Set one up in the console, then open this page again.',
    setUpFactor: 'Set up a second factor',
    factorIntro: 'Your passphrase is right. One step is left.',
    code: 'Code of your app, or a recovery code',
    recoveryCode: 'Recovery code',
    passkey: 'A passkey needs the console:',
    factorWrong: 'The code is wrong, was used before, or came too late. Try the next one.',
    startAgain: 'Start again',
  },

  problem: {
    notFound: 'Not found',
    notYours: 'This does not exist, or it is not yours to see.',
    refused: 'This is not possible',
    wrongAddress: 'This is not the address of the service',
    wrongAddressDo: 'Open the same page at its own address:',
    otherSite: 'This form did not come from a page of this service',
    otherSiteDo: 'Nothing was changed. Open the page again, and send the form from there.',
    suspended: 'Your organization is suspended',
    suspendedDo: 'The operator of the service suspended it. Nothing was changed. Ask the operator.',
    busy: 'The service is busy',
    busyDo: 'Nothing was changed. Go back and try again in a moment.',
    malformed: 'The form is not complete',
    malformedDo: 'Nothing was changed. Go back and try again.',
    failed: 'Something went wrong',
    failedDo: 'Go back and try again. If it happens again, give this id to the operator of the service:',
  },
}

export type Words = typeof english
