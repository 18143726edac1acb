/** What a person may do, by the role that lets them. */
const roles = {
  user: { name: 'Request access', means: 'Requests access, and uses what is given.' },
  approver: {
    name: 'Request access, and approve',
    means: 'Can also approve what others request, where a rule says so.',
  },
  admin: { name: 'Administer', means: 'Can do everything here: people, rules, settings, targets.' },
  auditor: { name: 'Read everything', means: 'Sees requests, access, rules and the audit log, and changes nothing.' },
}

export const people = {
  title: 'Invite a colleague',
  email: 'E-mail address',
  emailNeeded: 'Enter an e-mail address, as in ada@example.com.',
  emailTaken: 'A user has this address already. If they have not joined yet, make a new link for them below.',
  name: 'Name',
  nameHint: 'As others read it. They can change it when they join.',
  nameNeeded: 'Enter a name.',
  role: 'What may they do?',
  roles,
  otherRole: { name: 'Another role', means: 'One that your organization made.' },
  whichRole: 'Role',
  byPassphrase: 'They choose a passphrase when they open the link.',
  byProvider: (provider: string) => `They join by signing in at ${provider}, with an account of exactly this address.`,
  invite: 'Invite',
  made: {
    title: (name: string) => `Invited. Send this link to ${name}.`,
    again: (name: string) => `A new link for ${name}. The link before it has ended.`,
    once: (moment: string) =>
      `It works once, until ${moment}. Who opens it first is that person, and it is shown only now.`,
    link: 'Link',
    copy: 'Copy the link',
    close: 'I have sent it',
    mail: {
      not_set_up: 'No mail was sent, because the service has no mail server.',
      pending: (email: string) => `A mail with a link of its own is on its way to ${email}.`,
      sent: (email: string) => `A mail with a link of its own was sent to ${email}.`,
      failed: 'No mail was sent:',
    },
  },
  invited: {
    title: 'Invited, and not joined yet',
    none: 'Nobody is invited at the moment.',
    states: { pending: 'Invited', expired: 'Link expired', ended: 'Withdrawn' },
    until: (moment: string) => `Link works until ${moment}`,
    mails: { not_set_up: 'not mailed', pending: 'mail on its way', sent: 'mailed', failed: 'mail failed' },
    newLink: 'New link',
    newLinkFor: (name: string) => `New link for ${name}`,
    withdraw: 'Withdraw',
    withdrawFor: (name: string) => `Withdraw the invitation of ${name}`,
    withdrawTitle: (name: string) => `Withdraw the invitation of ${name}?`,
    withdrawConsequences:
      'Its link does not work any more, nor does one that was mailed. A new link invites them again.',
    withdrawAct: 'Withdraw invitation',
    withdrawn: (name: string) => `The link for ${name} does not work any more.`,
    newest: 'Those who were invited last are shown.',
  },
}
