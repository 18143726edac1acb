import {
  certificatesField,
  flagField,
  hostField,
  idField,
  leading,
  listField,
  numberField,
  portField,
  type ShownFields,
  textField,
  urlField,
} from '../kernel/shown-field.ts'

/** The kinds of sources of a provider's users. */
export const providerTypes = [
  'cloud_identity_center',
  'directory_a',
  'directory_b',
  'directory_c',
  'chat_service',
  'code_hosting',
  'incident_service',
  'custom_scim',
] as const
export type ProviderType = (typeof providerTypes)[number]

const everywhere = {
  schedule: textField,
  mass_removals: textField,
  dry_run: flagField,
  sync_users: flagField,
  sync_groups: flagField,
  sync_interval_seconds: numberField,
  sync_interval_minutes: numberField,
} as const satisfies ShownFields

/** What names the customer's place at a service, and the program that signs in there: public, and where its secrets go. */
const account = {
  ...everywhere,
  domain: hostField,
  base_url: urlField,
  url: urlField,
  api_url: urlField,
  token_url: urlField,
  scim_url: urlField,
  issuer: urlField,
  tenant_id: leading(idField),
  client_id: leading(idField),
  region: hostField,
} as const satisfies ShownFields

/** Directories that are queried over SCIM or LDAP. */
const directory = {
  ...account,
  domains: listField(hostField),
  org_url: urlField,
  customer_id: leading(idField),
  admin_email: textField,
  protocol: leading(textField),
  host: hostField,
  port: portField,
  start_tls: leading(flagField),
  bind_dn: textField,
  base_dn: textField,
  user_base_dn: textField,
  group_base_dn: textField,
  user_filter: textField,
  group_filter: textField,
  page_size: numberField,
  tls: leading(textField),
  ca_certificate: certificatesField,
  id_attribute: textField,
  user_name_attribute: textField,
  email_attribute: textField,
  department_attribute: textField,
  title_attribute: textField,
  manager_attribute: textField,
} as const satisfies ShownFields

/** Services that push their users to Sallyport. */
const pushing = { ...account, organization: textField } as const satisfies ShownFields

/** The one table of the fields of each type's config that replies show. Every other field is returned as `[redacted]`. */
export const shownFieldsOf = {
  cloud_identity_center: {
    ...everywhere,
    provisioner_id: leading(idField),
    region: hostField,
    identity_store_id: textField,
    instance_arn: textField,
    account_id: textField,
    role_arn: leading(textField),
  },
  directory_a: directory,
  directory_b: directory,
  directory_c: directory,
  chat_service: { ...pushing, workspace: textField, workspace_id: idField, team_id: idField },
  code_hosting: { ...pushing, enterprise: textField, app_id: leading(idField), installation_id: leading(idField) },
  incident_service: { ...pushing, subdomain: hostField, account_id: idField },
  custom_scim: pushing,
} as const satisfies Record<ProviderType, ShownFields>
