import type { Schemas } from '@sallyport/client'

const who = {
  title: 'Who you are',
  name: 'Name',
  email: 'E-mail address',
  jobTitle: 'Job title',
  department: 'Department',
  manager: 'Manager',
  organization: 'Organization',
  organizationId: 'Id of the organization',
  copyOrganizationId: 'Copy the id of the organization',
  roles: 'Roles',
  groups: 'Groups',
  none: 'None',
  owner: 'Owner',
  byGroup: (role: string) => `${role} (by a group)`,
}

const preferences = {
  title: 'Preferences',
  language: 'Language',
  languageHint: 'The words are in English or German. Dates and numbers follow any language.',
  asOrganization: 'As the organization',
  asOrganizationNow: (language: string) => `As the organization (${language})`,
  timezone: 'Time zone',
  asDevice: (zone: string) => `As this device (${zone})`,
  otherZones: 'Others',
  dateFormat: 'Dates',
  timeFormat: 'Times',
  asLanguage: 'As the language',
  hours12: '12 hours',
  hours24: '24 hours',
  preview: (moment: string) => `This moment: ${moment}`,
  previewLater: 'You see the language of the organization once you save.',
  save: 'Save preferences',
  saved: 'Your preferences are saved.',
}

const password = {
  title: 'Passphrase',
  change: 'Change passphrase',
  present: 'Current passphrase',
  next: 'New passphrase',
  nextHint: 'A few words that belong together only for you. Other sessions end.',
  nextNeeded: 'Enter a new passphrase.',
  presentNeeded: 'Enter your current passphrase.',
  changed: 'Your passphrase is changed. Your other sessions have ended.',
}

const factors = {
  title: 'Second factors',
  intro: 'What you prove at each sign-in beside your passphrase.',
  none: 'You have none. With one, your passphrase alone is of no use to others.',
  kinds: { totp: 'Authenticator app', passkey: 'Passkey' } satisfies Record<Schemas['SecondFactor']['kind'], string>,
  added: (moment: string) => `added ${moment}`,
  lastUsed: (moment: string) => `last used ${moment}`,
  neverUsed: 'not used yet',
  name: 'Name',
  nameHint: 'To know it again, such as “phone”. You may leave it empty.',
  addApp: 'Add an authenticator app',
  addPasskey: 'Add a passkey',
  passkeyFailed: 'The browser made no passkey. Try again, or add an authenticator app.',
  passkeyKnown: 'This device has a passkey of yours already.',
  noPasskeys: 'A browser makes no passkey at this address.',
  appTitle: 'Set up your authenticator app',
  secretIntro: 'Choose “enter a key” in the app, and type this key:',
  copySecret: 'Copy the key',
  openApp: 'Open the app on this device',
  confirmBy: 'Confirm it by',
  confirm: 'Confirm the app',
  isAdded: (name: string) => `“${name}” is added. The next sign-in asks for it.`,
  remove: 'Remove',
  removeNamed: (name: string) => `Remove ${name}`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeConsequences: 'You cannot sign in with it any more.',
  removeLast: 'Then your passphrase alone signs you in, and your recovery codes are of no use any more.',
  removed: (name: string) => `${name} is removed.`,
  codes: 'Recovery codes',
  codesLeft: (count: number) =>
    count === 0
      ? 'You have no recovery codes left.'
      : `You have ${count} recovery ${count === 1 ? 'code' : 'codes'} left.`,
  codesIntro: 'Each signs you in once in place of your second factor. They are shown only now: keep them safe.',
  copyCodes: 'Copy the codes',
  codesKept: 'I have kept them',
  replaceCodes: 'Replace recovery codes',
  replaceTitle: 'Replace your recovery codes?',
  replaceConsequences: 'You get ten new ones. The current ones are of no use any more.',
}

const needed = {
  title: 'Set up a second factor',
  why: 'Your roles need a sign-in with a second factor. Until then, you can only set one up or sign out.',
  has: 'You have a second factor. Sign in with it to go on.',
  ready: 'Your second factor is set up. Keep your recovery codes, then sign in with the factor.',
}

const sessions = {
  title: 'Sessions',
  intro: 'Where you are signed in.',
  kinds: { browser: 'Browser', program: 'Program', token: 'Token' },
  onSystem: (program: string, system: string) => `${program} on ${system}`,
  unknownProgram: 'Unknown program',
  current: 'This one',
  since: (moment: string) => `since ${moment}`,
  lastUsed: (ago: string) => `last used ${ago}`,
  from: (address: string) => `from ${address}`,
  until: (moment: string) => `until ${moment} at the latest`,
  end: 'End session',
  endNamed: (name: string) => `End session: ${name}`,
  endTitle: 'End this session?',
  endConsequences: (name: string) => `${name} is signed out at once.`,
  ended: 'The session has ended.',
  endOthers: 'End all other sessions',
  endOthersTitle: 'End all other sessions?',
  endOthersConsequences: 'You stay signed in here. All other browsers and programs of yours are signed out at once.',
  othersEnded: (count: number) =>
    count === 0
      ? 'There was no other session.'
      : count === 1
        ? '1 session has ended.'
        : `${count} sessions have ended.`,
}

const mails = {
  title: 'Mails',
  intro: (address: string) => `What is mailed to ${address}, beside the notifications here.`,
  obstacles: {
    no_mail_server: 'Nothing is mailed now: the service has no mail server. Your choice counts once it has one.',
    address_not_verified: 'Nothing is mailed to you now: your address is not verified. Ask an administrator.',
    unreachable_address: 'Nothing is mailed to you: no mail reaches this address.',
  } satisfies Record<NonNullable<Schemas['NotificationPreferences']['mail']['obstacle']>, string>,
  kinds: {
    decision_needed: 'A request waits for your decision',
    emergency: 'A person takes access in an emergency, without an approver',
    request_decided: 'Your request is approved, denied, expired or cancelled',
    comment: 'A comment on your request, or by the requester of one that you may decide',
    access_active: 'Your access begins, and how to connect',
    access_ending: 'Your access ends soon',
    access_revoked: 'Your access is ended early',
    access_ended: 'Your access ends on time',
    access_failed: 'Your access fails to start or to end, or is changed by hand',
    administration: 'Something that you administer needs you',
    security: 'Something that concerns the security of your account or your organization',
  } satisfies Record<keyof Schemas['NotificationPreferences']['kinds'], string>,
  save: 'Save mails',
  saved: 'Your choice is saved.',
}

export const me = {
  title: 'Profile and preferences',
  who,
  preferences,
  password,
  factors,
  needed,
  sessions,
  mails,
  signInFirst: 'This needs a sign-in within the last hour, with your second factor if you have one.',
  signInAgain: 'Sign in again',
  changedElsewhere: 'It was changed in another window meanwhile. You see the newest now: check it, then save again.',
}
