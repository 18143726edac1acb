/**
 * The attributes of users and groups that this service keeps (RFC 7643, sections 3.1, 4.1, 4.2 and 4.3). The one table: what is read,
 * searched, answered and published at `/Schemas` follows from it.
 */

/** The schemas of SCIM, by their URIs. */
export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

export type AttributeType = 'string' | 'boolean' | 'reference' | 'dateTime' | 'complex'

export type Attribute = {
  name: string
  type: AttributeType
  description: string
  multiValued: boolean
  required: boolean
  /** Whether two texts that differ in case are two values. */
  caseExact: boolean
  mutability: 'readWrite' | 'readOnly' | 'immutable'
  uniqueness: 'none' | 'server'
  canonicalValues?: readonly string[]
  referenceTypes?: readonly string[]
  subAttributes: readonly Attribute[]
}

type More = Partial<Omit<Attribute, 'name' | 'description'>>

function attribute(name: string, description: string, more: More = {}): Attribute {
  return {
    name,
    type: 'string',
    description,
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    uniqueness: 'none',
    subAttributes: [],
    ...more,
  }
}

function complex(name: string, description: string, subAttributes: readonly Attribute[], more: More = {}): Attribute {
  return attribute(name, description, { ...more, type: 'complex', subAttributes })
}

const primary = attribute('primary', 'whether it is the preferred one; at most one is', { type: 'boolean' })

/** A list of values with their kind, of which one is preferred. */
function plural(name: string, description: string, kinds: readonly string[], more: More = {}): Attribute {
  return complex(
    name,
    description,
    [
      attribute('value', 'the value', { required: more.required === true }),
      attribute('display', 'the value as people read it'),
      attribute('type', 'the kind of the value', { canonicalValues: kinds }),
      primary,
    ],
    { ...more, multiValued: true },
  )
}

export const userAttributes: readonly Attribute[] = [
  attribute('userName', 'the name by which the directory knows the user; unique in the directory', {
    required: true,
    uniqueness: 'server',
  }),
  complex('name', 'the parts of the name', [
    attribute('formatted', 'the whole name'),
    attribute('familyName', 'the family name'),
    attribute('givenName', 'the given name'),
    attribute('middleName', 'the middle names'),
    attribute('honorificPrefix', 'what stands before the name'),
    attribute('honorificSuffix', 'what stands after the name'),
  ]),
  attribute('displayName', 'the name that people see'),
  attribute('nickName', 'what the user is called'),
  attribute('profileUrl', 'the address of a page about the user', {
    type: 'reference',
    referenceTypes: ['external'],
    caseExact: true,
  }),
  attribute('title', 'the title of the job; rules can read it'),
  attribute('userType', 'the relation of the user to the organization'),
  attribute('preferredLanguage', 'the language that the user prefers'),
  attribute('locale', 'by which numbers and dates are written'),
  attribute('timezone', 'the time zone, by its name in the tz database'),
  attribute('active', 'false: the user cannot sign in, and their access has ended; true where it is left out', {
    type: 'boolean',
    required: true,
  }),
  plural('emails', 'the addresses; the primary one is that of the user here', ['work', 'home', 'other'], {
    required: true,
  }),
  plural('phoneNumbers', 'the telephone numbers', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  complex(
    'addresses',
    'the postal addresses',
    [
      attribute('formatted', 'the whole address'),
      attribute('streetAddress', 'street and house number'),
      attribute('locality', 'the city'),
      attribute('region', 'the state or region'),
      attribute('postalCode', 'the postal code'),
      attribute('country', 'the country'),
      attribute('type', 'the kind of address', { canonicalValues: ['work', 'home', 'other'] }),
      primary,
    ],
    { multiValued: true },
  ),
]

const enterpriseAttributes: readonly Attribute[] = [
  attribute('employeeNumber', 'the number of the employee'),
  attribute('costCenter', 'the cost center'),
  attribute('organization', 'the organization'),
  attribute('division', 'the division'),
  attribute('department', 'the department; rules can read it'),
  complex('manager', 'the manager; rules can read it', [
    attribute('value', 'the `id` of the manager, or their `externalId`', { caseExact: true }),
    attribute('$ref', 'the address of the manager', {
      type: 'reference',
      referenceTypes: ['User'],
      caseExact: true,
      mutability: 'readOnly',
    }),
    attribute('displayName', 'the name of the manager', { mutability: 'readOnly' }),
  ]),
]

const groupAttributes: readonly Attribute[] = [
  attribute('displayName', 'the name that people see', { required: true }),
  complex(
    'members',
    'the users in the group',
    [
      attribute('value', 'the `id` of the user', { caseExact: true, mutability: 'immutable' }),
      attribute('$ref', 'the address of the user', {
        type: 'reference',
        referenceTypes: ['User'],
        caseExact: true,
        mutability: 'immutable',
      }),
      attribute('type', 'always `User`', { mutability: 'immutable', canonicalValues: ['User'] }),
    ],
    { multiValued: true },
  ),
]

/** What every resource has beside the attributes of its schema (RFC 7643, section 3.1). */
export const externalId = attribute('externalId', 'the id of the resource in the directory', { caseExact: true })
export const commonAttributes: readonly Attribute[] = [
  externalId,
  attribute('id', 'the id of the resource here', { caseExact: true, mutability: 'readOnly' }),
  complex(
    'meta',
    'facts about the resource',
    [
      attribute('resourceType', 'its kind', { caseExact: true, mutability: 'readOnly' }),
      attribute('created', 'when it was made', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('lastModified', 'when it was last changed', { type: 'dateTime', mutability: 'readOnly' }),
      attribute('location', 'its address', { type: 'reference', caseExact: true, mutability: 'readOnly' }),
      attribute('version', 'its version', { caseExact: true, mutability: 'readOnly' }),
    ],
    { mutability: 'readOnly' },
  ),
]

/** A kind of resource: its schema, and the attributes that a client may write, each under its name. */
export type ResourceKind = {
  name: 'User' | 'Group'
  schema: string
  attributes: readonly Attribute[]
  /** Its attributes are written under the URI of the extension. */
  extension?: { schema: string; attributes: readonly Attribute[] }
}

export const userKind: ResourceKind = {
  name: 'User',
  schema: userSchema,
  attributes: userAttributes,
  extension: { schema: enterpriseSchema, attributes: enterpriseAttributes },
}
export const groupKind: ResourceKind = { name: 'Group', schema: groupSchema, attributes: groupAttributes }

/** Attributes that directories send and that are never kept: what gives rights here is decided here. */
export const ignoredAttributes: ReadonlySet<string> = new Set(
  ['password', 'roles', 'entitlements', 'groups', 'ims', 'photos', 'x509Certificates', 'schemas'].map((name) =>
    name.toLowerCase(),
  ),
)

/** The attribute of this name, in whatever case. */
export function findAttribute(attributes: readonly Attribute[], name: string): Attribute | undefined {
  const sought = name.toLowerCase()
  return attributes.find((one) => one.name.toLowerCase() === sought)
}
