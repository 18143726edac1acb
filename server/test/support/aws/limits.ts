import type { ServiceName } from './wire.ts'

/**
 * The constraints of the service's model on a member: length of a text or a list, size of a number, pattern, enumerated
 * values.
 */
export type Limit = { min?: number; max?: number; form?: RegExp; values?: readonly string[] }

const arn = 'arn:aws(-[a-z]{1,5}){0,3}'
const instance = '(sso)?ins-[a-zA-Z0-9-.]{16}'
const set = `permissionSet/${instance}/ps-[a-zA-Z0-9-./]{16}`
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const principal = '([0-9a-f]{10}-|)[A-Fa-f0-9]{8}-[A-Fa-f0-9]{4}-[A-Fa-f0-9]{4}-[A-Fa-f0-9]{4}-[A-Fa-f0-9]{12}'
const whole = (form: string, flags = ''): RegExp => new RegExp(`^(?:${form})$`, flags)
const printed = '[\\p{L}\\p{M}\\p{S}\\p{N}\\p{P}]+'

const account: Limit = { min: 12, max: 12, form: whole('\\d{12}') }
const requestId: Limit = { min: 36, max: 36, form: whole(uuid) }
const hundred: Limit = { min: 1, max: 100 }
const word: Limit = { min: 1, max: 256, form: whole(printed, 'u') }

const sso: Readonly<Record<string, Limit>> = {
  InstanceArn: { min: 10, max: 1224, form: whole(`${arn}:sso:::instance/${instance}`) },
  PermissionSetArn: { min: 10, max: 1224, form: whole(`${arn}:sso:::${set}`) },
  ResourceArn: { min: 10, max: 2048, form: whole(`${arn}:sso:::(instance/${instance}|${set})`) },
  Name: { min: 1, max: 32, form: whole('[\\w+=,.@-]+') },
  Description: { min: 1, max: 700, form: whole('[\\u0009\\u000A\\u000D\\u0020-\\u007E\\u00A1-\\u00FF]*') },
  SessionDuration: {
    min: 1,
    max: 100,
    form: whole('(-?)P(?=\\d|T\\d)(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+)([DW]))?(?:T(?:(\\d+)H)?(?:(\\d+)M)?(?:(\\d+)S)?)?'),
  },
  RelayState: { min: 1, max: 240 },
  InlinePolicy: { min: 1, max: 32_768, form: whole('[\\u0009\\u000A\\u000D\\u0020-\\u00FF]+') },
  ManagedPolicyArn: { min: 20, max: 2048, form: whole(`${arn}:iam::aws:policy((/[\\w.,+@=-]+)*)/([\\w.,+=@-]+)`) },
  Tags: { min: 0, max: 75 },
  TagKeys: { min: 1, max: 75 },
  Key: { min: 1, max: 128, form: whole('[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*', 'u') },
  Value: { min: 0, max: 256, form: whole('[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*', 'u') },
  AccountId: account,
  TargetId: account,
  PrincipalId: { min: 1, max: 47, form: whole(principal) },
  PrincipalType: { values: ['USER', 'GROUP'] },
  ProvisioningStatus: { values: ['LATEST_PERMISSION_SET_PROVISIONED', 'LATEST_PERMISSION_SET_NOT_PROVISIONED'] },
  Status: { values: ['IN_PROGRESS', 'FAILED', 'SUCCEEDED'] },
  AccountAssignmentCreationRequestId: requestId,
  AccountAssignmentDeletionRequestId: requestId,
  ProvisionPermissionSetRequestId: requestId,
  MaxResults: hundred,
  NextToken: { min: 0, max: 2048, form: whole('[-a-zA-Z0-9+=/_]*') },
}

const identitystore: Readonly<Record<string, Limit>> = {
  IdentityStoreId: { min: 1, max: 36, form: whole(`d-[0-9a-f]{10}|${uuid}`) },
  GroupId: { min: 1, max: 47, form: whole(principal) },
  UserId: { min: 1, max: 47, form: whole(principal) },
  Issuer: word,
  Id: word,
  AttributePath: { min: 1, max: 255, form: whole('\\p{L}+(?:\\.\\p{L}+){0,2}', 'u') },
  Filters: { min: 0, max: 1 },
  Extensions: { min: 1, max: 10 },
  MaxResults: hundred,
  NextToken: { min: 1, max: 65_535, form: whole('[-a-zA-Z0-9+=/:_]*') },
}

const unit = 'ou-[0-9a-z]{4,32}-[a-z0-9]{8,32}'

const organizations: Readonly<Record<string, Limit>> = {
  AccountId: account,
  ResourceId: { max: 130, form: whole(`r-[0-9a-z]{4,32}|\\d{12}|${unit}`) },
  ParentId: { max: 100, form: whole(`r-[0-9a-z]{4,32}|${unit}`) },
  ChildId: { max: 100, form: whole(`\\d{12}|${unit}`) },
  ChildType: { values: ['ACCOUNT', 'ORGANIZATIONAL_UNIT'] },
  OrganizationalUnitId: { max: 68, form: whole(unit) },
  MaxResults: { min: 1, max: 20 },
  NextToken: { max: 100_000 },
}

const ssm: Readonly<Record<string, Limit>> = {
  State: { values: ['Active', 'History'] },
  SessionId: { min: 1, max: 96 },
  Filters: { min: 1, max: 6 },
  key: { values: ['InvokedAfter', 'InvokedBefore', 'Target', 'Owner', 'Status', 'SessionId', 'AccessType'] },
  value: { min: 1, max: 400 },
  MaxResults: { min: 1, max: 200 },
}

const rds: Readonly<Record<string, Limit>> = {
  MaxRecords: { min: 20, max: 100 },
}

const sts: Readonly<Record<string, Limit>> = {
  RoleArn: { min: 20, max: 2048, form: whole(`${arn}:iam::\\d{12}:role/[\\w+=,.@/-]+`) },
  RoleSessionName: { min: 2, max: 64, form: whole('[\\w+=,.@-]*') },
  DurationSeconds: { min: 900, max: 43_200 },
  ExternalId: { min: 2, max: 1224, form: whole('[\\w+=,.@:\\/-]*') },
}

/** By service and member; a name has the same shape in every input of a service. */
export const limits: Readonly<Record<ServiceName, Readonly<Record<string, Limit>>>> = {
  sso: { ...sso, TargetType: { values: ['AWS_ACCOUNT', 'ALL_PROVISIONED_ACCOUNTS'] } },
  identitystore,
  organizations,
  ssm,
  rds,
  sts,
}
