import type { Words } from '../words.ts'

const who: Words['me']['who'] = {
  title: 'Wer Sie sind',
  name: 'Name',
  email: 'E-Mail-Adresse',
  jobTitle: 'Stellenbezeichnung',
  department: 'Abteilung',
  manager: 'Vorgesetzte Person',
  organization: 'Organisation',
  organizationId: 'Kennung der Organisation',
  copyOrganizationId: 'Kennung der Organisation kopieren',
  roles: 'Rollen',
  groups: 'Gruppen',
  none: 'Keine',
  owner: 'Eigentümer',
  byGroup: (role) => `${role} (durch eine Gruppe)`,
}

const preferences: Words['me']['preferences'] = {
  title: 'Einstellungen',
  language: 'Sprache',
  languageHint: 'Die Texte sind deutsch oder englisch. Daten und Zahlen folgen jeder Sprache.',
  asOrganization: 'Wie die Organisation',
  asOrganizationNow: (language) => `Wie die Organisation (${language})`,
  timezone: 'Zeitzone',
  asDevice: (zone) => `Wie dieses Gerät (${zone})`,
  otherZones: 'Andere',
  dateFormat: 'Datum',
  timeFormat: 'Uhrzeit',
  asLanguage: 'Wie die Sprache',
  hours12: '12 Stunden',
  hours24: '24 Stunden',
  preview: (moment) => `Dieser Moment: ${moment}`,
  previewLater: 'Die Sprache der Organisation sehen Sie nach dem Speichern.',
  save: 'Einstellungen speichern',
  saved: 'Ihre Einstellungen sind gespeichert.',
}

const password: Words['me']['password'] = {
  title: 'Passphrase',
  change: 'Passphrase ändern',
  present: 'Aktuelle Passphrase',
  next: 'Neue Passphrase',
  nextHint: 'Einige Wörter, die nur für Sie zusammengehören. Andere Sitzungen enden.',
  nextNeeded: 'Geben Sie eine neue Passphrase ein.',
  presentNeeded: 'Geben Sie Ihre aktuelle Passphrase ein.',
  changed: 'Ihre Passphrase ist geändert. Ihre anderen Sitzungen sind beendet.',
}

const factors: Words['me']['factors'] = {
  title: 'Zweite Faktoren',
  intro: 'Was Sie bei jeder Anmeldung neben Ihrer Passphrase nachweisen.',
  none: 'Sie haben keinen. Mit einem nützt Ihre Passphrase allein niemand anderem.',
  kinds: { totp: 'Authenticator-App', passkey: 'Passkey' },
  added: (moment) => `hinzugefügt ${moment}`,
  lastUsed: (moment) => `zuletzt verwendet ${moment}`,
  neverUsed: 'noch nicht verwendet',
  name: 'Name',
  nameHint: 'Zum Wiedererkennen, zum Beispiel „Telefon“. Das Feld kann leer bleiben.',
  addApp: 'Authenticator-App hinzufügen',
  addPasskey: 'Passkey hinzufügen',
  passkeyFailed:
    'Der Browser hat keinen Passkey erstellt. Versuchen Sie es erneut, oder fügen Sie eine Authenticator-App hinzu.',
  passkeyKnown: 'Dieses Gerät hat schon einen Passkey von Ihnen.',
  noPasskeys: 'Unter dieser Adresse erstellt ein Browser keinen Passkey.',
  appTitle: 'Richten Sie Ihre Authenticator-App ein',
  secretIntro: 'Wählen Sie in der App „Schlüssel eingeben“, und tippen Sie diesen Schlüssel:',
  copySecret: 'Schlüssel kopieren',
  openApp: 'App auf diesem Gerät öffnen',
  confirmBy: 'Bestätigen Sie sie bis',
  confirm: 'App bestätigen',
  isAdded: (name) => `„${name}“ ist hinzugefügt. Die nächste Anmeldung fragt danach.`,
  remove: 'Entfernen',
  removeNamed: (name) => `${name} entfernen`,
  removeTitle: (name) => `${name} entfernen?`,
  removeConsequences: 'Sie können sich damit nicht mehr anmelden.',
  removeLast: 'Dann genügt Ihre Passphrase allein zur Anmeldung, und Ihre Wiederherstellungscodes gelten nicht mehr.',
  removed: (name) => `${name} ist entfernt.`,
  codes: 'Wiederherstellungscodes',
  codesLeft: (count) =>
    count === 0
      ? 'Sie haben keine Wiederherstellungscodes mehr.'
      : `Sie haben noch ${count} ${count === 1 ? 'Wiederherstellungscode' : 'Wiederherstellungscodes'}.`,
  codesIntro:
    'Jeder meldet Sie einmal anstelle Ihres zweiten Faktors an. Sie werden nur jetzt angezeigt: Bewahren Sie sie sicher auf.',
  copyCodes: 'Codes kopieren',
  codesKept: 'Ich habe sie aufbewahrt',
  replaceCodes: 'Codes ersetzen',
  replaceTitle: 'Ihre Wiederherstellungscodes ersetzen?',
  replaceConsequences: 'Sie bekommen zehn neue. Die alten gelten dann nicht mehr.',
}

const needed: Words['me']['needed'] = {
  title: 'Richten Sie einen zweiten Faktor ein',
  why: 'Ihre Rollen verlangen eine Anmeldung mit einem zweiten Faktor. Bis dahin können Sie nur einen einrichten oder sich abmelden.',
  has: 'Sie haben einen zweiten Faktor. Melden Sie sich damit an, um fortzufahren.',
  ready:
    'Ihr zweiter Faktor ist eingerichtet. Bewahren Sie Ihre Wiederherstellungscodes auf, und melden Sie sich dann mit dem Faktor an.',
}

const sessions: Words['me']['sessions'] = {
  title: 'Sitzungen',
  intro: 'Wo Sie angemeldet sind.',
  kinds: { browser: 'Browser', program: 'Programm', token: 'Token' },
  onSystem: (program, system) => `${program} auf ${system}`,
  unknownProgram: 'Unbekanntes Programm',
  current: 'Diese hier',
  since: (moment) => `seit ${moment}`,
  lastUsed: (ago) => `zuletzt verwendet ${ago}`,
  from: (address) => `von ${address}`,
  until: (moment) => `längstens bis ${moment}`,
  end: 'Sitzung beenden',
  endNamed: (name) => `Sitzung beenden: ${name}`,
  endTitle: 'Diese Sitzung beenden?',
  endConsequences: (name) => `${name} wird sofort abgemeldet.`,
  ended: 'Die Sitzung ist beendet.',
  endOthers: 'Alle anderen beenden',
  endOthersTitle: 'Alle anderen Sitzungen beenden?',
  endOthersConsequences:
    'Hier bleiben Sie angemeldet. Alle anderen Browser und Programme von Ihnen werden sofort abgemeldet.',
  othersEnded: (count) =>
    count === 0
      ? 'Es gab keine andere Sitzung.'
      : count === 1
        ? '1 Sitzung ist beendet.'
        : `${count} Sitzungen sind beendet.`,
}

const mails: Words['me']['mails'] = {
  title: 'E-Mails',
  intro: (address) => `Was neben den Mitteilungen hier an ${address} geht.`,
  obstacles: {
    no_mail_server:
      'Zurzeit geht keine E-Mail ab: Der Dienst hat keinen Mailserver. Ihre Wahl gilt, sobald er einen hat.',
    address_not_verified:
      'Zurzeit geht keine E-Mail an Sie: Ihre Adresse ist nicht bestätigt. Fragen Sie einen Administrator.',
    unreachable_address: 'Es geht keine E-Mail an Sie: Diese Adresse erreicht keine E-Mail.',
  },
  kinds: {
    decision_needed: 'Ein Antrag wartet auf Ihre Entscheidung',
    emergency: 'Jemand nimmt im Notfall Zugriff, ohne Genehmiger',
    request_decided: 'Ihr Antrag ist genehmigt, abgelehnt, verfallen oder zurückgezogen',
    comment: 'Ein Kommentar zu Ihrem Antrag, oder vom Antragsteller zu einem, über den Sie entscheiden dürfen',
    access_active: 'Ihr Zugriff beginnt, und wie Sie sich verbinden',
    access_ending: 'Ihr Zugriff endet bald',
    access_revoked: 'Ihr Zugriff wird vorzeitig beendet',
    access_ended: 'Ihr Zugriff endet zur vorgesehenen Zeit',
    access_failed: 'Ihr Zugriff beginnt oder endet nicht wie vorgesehen, oder wird von Hand geändert',
    administration: 'Etwas, das Sie verwalten, braucht Sie',
    security: 'Etwas, das die Sicherheit Ihres Kontos oder Ihrer Organisation betrifft',
  },
  save: 'E-Mails speichern',
  saved: 'Ihre Wahl ist gespeichert.',
}

export const me: Words['me'] = {
  title: 'Profil und Einstellungen',
  who,
  preferences,
  password,
  factors,
  needed,
  sessions,
  mails,
  signInFirst:
    'Dafür braucht es eine Anmeldung in der letzten Stunde, mit Ihrem zweiten Faktor, falls Sie einen haben.',
  signInAgain: 'Erneut anmelden',
  changedElsewhere:
    'Das wurde inzwischen in einem anderen Fenster geändert. Jetzt sehen Sie den neuen Stand: Prüfen Sie ihn, dann speichern Sie erneut.',
}
