import { TargetError } from '../../../provisioners/driver.ts'
import { firstText, shortDn, textsOf } from './entry.ts'
import type { Settings } from './ldap-config.ts'
import type { Entry } from './read-message.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

const givenName = ['givenName']
const familyName = ['sn']
const commonName = ['cn']
const displayName = ['displayName', 'cn']
const accountStates = ['userAccountControl', 'nsAccountLock', 'pwdAccountLockedTime']

/** ACCOUNTDISABLE of `userAccountControl`. */
const disabledBit = 2
/** What a password policy says of an account that an administrator locked. Another time stands for wrong passwords, and passes. */
const lockedForGood = /^0000010100(?:00(?:00)?)?Z$/

/** The attributes that a person is read from, in addition to the id. */
export function personAttributes({ attributes }: Settings): string[] {
  const { userName, email, department, title, manager } = attributes
  const own = [...givenName, ...familyName, ...displayName, ...accountStates]
  return [...new Set([...userName, ...email, ...department, ...title, ...manager, ...own])]
}

/**
 * An entry as a user of SCIM. `managerId`: finds the id of the person with a DN.
 * @throws TargetError for an entry of which it is not clear whether it is disabled
 */
export function readPerson(
  entry: Entry,
  { attributes }: Settings,
  managerId: (dn: string) => string | undefined,
): Record<string, unknown> {
  const name = present({
    formatted: firstText(entry, commonName),
    familyName: firstText(entry, familyName),
    givenName: firstText(entry, givenName),
  })
  const emails = attributes.email.flatMap((one) => textsOf(entry, one))
  const managers = attributes.manager.flatMap((one) => textsOf(entry, one)).map(managerId)
  const manager = managers.find((id) => id !== undefined)
  return present({
    userName: firstText(entry, attributes.userName),
    name,
    displayName: firstText(entry, displayName),
    title: firstText(entry, attributes.title),
    active: isActive(entry),
    emails: emails.map((value, place) => ({ value, type: 'work', primary: place === 0 })),
    [enterprise]: present({
      department: firstText(entry, attributes.department),
      manager: present({ value: manager }),
    }),
  })
}

/** What is there: without undefined, empty lists and empty objects. */
function present(all: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(all).filter(([, value]) => !isEmpty(value)))
}

/** By what Active Directory, 389 Directory Server and OpenLDAP say of a disabled account. */
function isActive(entry: Entry): boolean {
  const control = firstText(entry, ['userAccountControl'])
  if (control !== undefined && !/^-?\d{1,10}$/.test(control)) {
    throw new TargetError('permanent', `\`${shortDn(entry)}\` has a \`userAccountControl\` that is no number`)
  }
  if ((Number(control ?? 0) & disabledBit) !== 0) return false
  if (textsOf(entry, 'nsAccountLock').some((text) => text.toLowerCase() === 'true')) return false
  return !textsOf(entry, 'pwdAccountLockedTime').some((text) => lockedForGood.test(text))
}
