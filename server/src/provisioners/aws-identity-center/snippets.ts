import type { Snippet } from '../driver.ts'

/** A role with these policies, in the two forms that administrators of AWS apply. `path`: from `/` to `/`. */
export type RoleToMake = { path: string; name: string; trust: object; policy: object }

/** How long AWS lets a session of the role be, at least: the driver asks for as much. */
const maxSessionSeconds = 3_600

const about = 'Sallyport gives and removes access in IAM Identity Center by this role'

export function snippetsOf(role: RoleToMake): Snippet[] {
  return [
    {
      kind: 'cloudformation',
      file_name: 'sallyport.yaml',
      text: cloudFormation(role),
      apply: ['aws', 'cloudformation', 'deploy', '--stack-name=sallyport', '--template-file=sallyport.yaml'].concat(
        '--capabilities=CAPABILITY_NAMED_IAM',
      ),
    },
    { kind: 'terraform', file_name: 'sallyport.tf', text: terraform(role), apply: ['terraform', 'apply'] },
  ]
}

/** YAML that contains the policies as JSON, which is YAML too. In quotes, because a name may be `123`, or begin with `@`. */
function cloudFormation({ path, name, trust, policy }: RoleToMake): string {
  return `AWSTemplateFormatVersion: "2010-09-09"
Description: ${about}

Resources:
  SallyportRole:
    Type: AWS::IAM::Role
    Properties:
      RoleName: "${name}"
      Path: "${path}"
      MaxSessionDuration: ${maxSessionSeconds}
      AssumeRolePolicyDocument:
${indented(trust, 8)}
      Policies:
        - PolicyName: "${name}"
          PolicyDocument:
${indented(policy, 12)}

Outputs:
  RoleArn:
    Value: !GetAtt SallyportRole.Arn
`
}

/** HCL takes the objects of JSON as its own, but for what would begin an expression in a text. */
function terraform({ path, name, trust, policy }: RoleToMake): string {
  return `# ${about}.
resource "aws_iam_role" "sallyport" {
  name                 = "${name}"
  path                 = "${path}"
  max_session_duration = ${maxSessionSeconds}

  assume_role_policy = jsonencode(
${literal(indented(trust, 4))}
  )
}

resource "aws_iam_role_policy" "sallyport" {
  name = "${name}"
  role = aws_iam_role.sallyport.id

  policy = jsonencode(
${literal(indented(policy, 4))}
  )
}

output "role_arn" {
  value = aws_iam_role.sallyport.arn
}
`
}

function indented(document: object, columns: number): string {
  return JSON.stringify(document, null, 2).replace(/^/gm, ' '.repeat(columns))
}

function literal(text: string): string {
  return text.replace(/([$%])\{/g, '$1$1{')
}
