import type { SetUpWords } from '../set-up-words.ts'

const roles: SetUpWords['people']['roles'] = {
  user: { name: 'Zugriff beantragen', means: 'Beantragt Zugriff und nutzt, was sie bekommt.' },
  approver: {
    name: 'Zugriff beantragen und genehmigen',
    means: 'Kann auch genehmigen, was andere beantragen, wo eine Regel es sagt.',
  },
  admin: { name: 'Verwalten', means: 'Kann hier alles: Personen, Regeln, Einstellungen, Ziele.' },
  auditor: { name: 'Alles lesen', means: 'Sieht Anträge, Zugriff, Regeln und das Protokoll und ändert nichts.' },
}

export const people: SetUpWords['people'] = {
  title: 'Kollegin oder Kollegen einladen',
  email: 'E-Mail-Adresse',
  emailNeeded: 'Geben Sie eine E-Mail-Adresse ein, wie in ada@example.com.',
  emailTaken:
    'Diese Adresse ist schon vergeben. Ist die Person noch nicht beigetreten, erstellen Sie unten einen neuen Link.',
  name: 'Anzeigename',
  nameHint: 'Wie andere ihn lesen. Die Person kann ihn beim Beitreten ändern.',
  nameNeeded: 'Geben Sie einen Namen ein.',
  role: 'Was darf die Person?',
  roles,
  otherRole: { name: 'Eine andere Rolle', means: 'Eine, die Ihre Organisation angelegt hat.' },
  whichRole: 'Rolle',
  byPassphrase: 'Die Person wählt eine Passphrase, wenn sie den Link öffnet.',
  byProvider: (provider) => `Zum Beitreten meldet sich die Person bei ${provider} an, mit genau dieser Adresse.`,
  invite: 'Einladen',
  made: {
    title: (name) => `Eingeladen. Senden Sie diesen Link an ${name}.`,
    again: (name) => `Ein neuer Link für ${name}. Der vorige gilt nicht mehr.`,
    once: (moment) =>
      `Er gilt einmal, bis ${moment}. Wer ihn zuerst öffnet, ist diese Person, und er wird nur jetzt gezeigt.`,
    link: 'Adresse',
    copy: 'Link kopieren',
    close: 'Ich habe ihn gesendet',
    mail: {
      not_set_up: 'Es wurde keine Mail gesendet: Der Dienst hat keinen Mailserver.',
      pending: (email) => `Eine Mail mit einem eigenen Link ist unterwegs an ${email}.`,
      sent: (email) => `Eine Mail mit einem eigenen Link wurde an ${email} gesendet.`,
      failed: 'Es wurde keine Mail gesendet:',
    },
  },
  invited: {
    title: 'Eingeladen und noch nicht beigetreten',
    none: 'Zurzeit ist niemand eingeladen.',
    states: { pending: 'Eingeladen', expired: 'Link abgelaufen', ended: 'Zurückgezogen' },
    until: (moment) => `Link gilt bis ${moment}`,
    mails: { not_set_up: 'ohne Mail', pending: 'Mail unterwegs', sent: 'Mail gesendet', failed: 'Mail gescheitert' },
    newLink: 'Neuer Link',
    newLinkFor: (name) => `Neuer Link für ${name}`,
    withdraw: 'Zurückziehen',
    withdrawFor: (name) => `Einladung von ${name} zurückziehen`,
    withdrawTitle: (name) => `Einladung von ${name} zurückziehen?`,
    withdrawConsequences: 'Der Link gilt nicht mehr, auch kein gemailter. Ein neuer Link lädt die Person wieder ein.',
    withdrawAct: 'Einladung zurückziehen',
    withdrawn: (name) => `Der Link für ${name} gilt nicht mehr.`,
    newest: 'Gezeigt sind die zuletzt Eingeladenen.',
  },
}
