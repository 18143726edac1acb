import {
  flagField,
  hostField,
  leading,
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

const everywhere = { schedule: textField, dry_run: flagField } as const satisfies ShownFields

/** Directories that are queried over SCIM or LDAP. */
const directory = {
  ...everywhere,
  protocol: leading(textField),
  base_url: urlField,
  url: urlField,
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
} as const satisfies ShownFields

/** Services that push their users to Sallyport. */
const pushing = { ...everywhere, base_url: urlField, url: urlField, organization: textField } as const

/** The one table of the fields of each type's config that replies show. Every other field is returned as `[redacted]`. */
export const shownFieldsOf = {
  cloud_identity_center: {
    ...everywhere,
    region: hostField,
    identity_store_id: textField,
    instance_arn: textField,
    account_id: textField,
    role_arn: leading(textField),
  },
  directory_a: directory,
  directory_b: directory,
  directory_c: directory,
  chat_service: pushing,
  code_hosting: pushing,
  incident_service: pushing,
  custom_scim: pushing,
} as const satisfies Record<ProviderType, ShownFields>
