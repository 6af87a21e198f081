import { z } from 'zod'
import { line } from './fields.ts'
import { workerNameSchema, workKindSchema } from './jobs.ts'

/** The scopes of tokens, with what each allows. A session may do everything its user may. */
export const tokenScopes = {
  'packages:read': 'Install private packages and packages you bought',
  'packages:publish': 'Publish packages and read private ones',
  'packages:manage': 'Publish packages, move tags, deprecate and yank versions',
  'account:manage': 'Change the password, tokens and organizations',
  'training:start': 'Start training runs, which can cost money',
  'training:view': 'View training runs',
  'training:cancel': 'Cancel training runs',
  'training:evaluate': 'Evaluate trained agents',
  'data:export': 'Export sampled trajectories of training runs',
  'agents:call': 'Call hosted agents, which can cost money',
  'market:buy': 'Buy packages, and view the balance and orders',
  'market:sell': 'Set prices, refund orders, view earnings and request payouts',
  worker: 'Run jobs as a worker of this server',
} as const
export type TokenScope = keyof typeof tokenScopes
export const tokenScopeSchema = z.enum(Object.keys(tokenScopes) as [TokenScope, ...TokenScope[]])

export const roleSchema = z.enum(['owner', 'admin', 'member', 'viewer'])

/** Validated by the server, which explains the rule in `name_invalid`; a pattern here could not. */
const usernameField = z.string().min(1).max(100)
const emailField = z.email().max(254)
/** Length in UTF-16 units. Capped because hashing is slow by design. */
const newPasswordField = z.string().min(10).max(200)
/** With or without spaces and dashes. */
const codeField = z.string().min(1).max(60)
const tokenNameField = line(z.string().trim().min(1).max(80))
const scopesField = z.array(tokenScopeSchema).min(1).max(tokenScopeSchema.options.length)

export const signUpRequestSchema = z.strictObject({
  username: usernameField,
  email: emailField,
  password: newPasswordField,
})

export const accountSchema = z
  .object({
    username: z.string(),
    kind: z.enum(['user', 'organisation']),
    email: z.string().nullable(),
    email_verified: z.boolean(),
    /** An operator of this installation. */
    operator: z.boolean(),
  })
  .meta({ id: 'Account' })

/** The secret that the server printed at its start, or AGENTGYM_SETUP_SECRET. */
export const claimRequestSchema = z.strictObject({ setup_secret: z.string().max(400) })

export const accountListRequestSchema = z.object({
  q: line(z.string().max(100)).optional().describe('Part of a username or email address.'),
  operators: z.enum(['true', 'false']).optional().describe('`true`: operators only.'),
  after: line(z.string().max(100)).optional().describe('`next_after` of the previous page.'),
  limit: z.coerce.number().int().min(1).max(100).default(50),
})
export const accountListSchema = z
  .object({
    accounts: z.array(
      accountSchema.extend({
        /** When and why an operator disabled it; null if it is enabled. */
        disabled: z.object({ at: z.iso.datetime(), reason: z.string() }).nullable(),
        /** Whether it has one. */
        second_factor: z.boolean(),
        created_at: z.iso.datetime(),
      }),
    ),
    next_after: z.string().nullable(),
  })
  .meta({ id: 'AccountList' })
export type AccountList = z.infer<typeof accountListSchema>

export const disableAccountRequestSchema = z.strictObject({ reason: line(z.string().trim().min(1).max(400)) })
/** `tokens`: also revoke every token. Default: true. */
export const signOutRequestSchema = z.strictObject({ tokens: z.boolean().optional() })

/** The caller's account and what the caller may do. */
export const ownAccountSchema = accountSchema
  .extend({
    organisations: z.array(z.object({ username: z.string(), role: roleSchema })),
    /** Scopes of the token; all scopes for a session. */
    scopes: z.array(tokenScopeSchema),
    /** Counted up to 100. */
    unread_notifications: z.int().min(0).max(100),
  })
  .meta({ id: 'OwnAccount' })
export type OwnAccount = z.infer<typeof ownAccountSchema>

/** No length rules: a password that no account can have is simply wrong. */
export const logInRequestSchema = z.strictObject({
  /** Username or email address. */
  username: z.string().max(254),
  password: z.string().max(1_000),
  /** Of the second factor: six digits of the app, or a recovery code. */
  code: codeField.optional(),
})
/** As `code` of a log-in. */
export const secondFactorCodeSchema = z.strictObject({ code: codeField })
/** `current_password`: required if the account has a password. */
export const beginSecondFactorRequestSchema = z.strictObject({ current_password: z.string().max(1_000).optional() })
export const secondFactorSecretSchema = z
  .object({
    /** Base 32. */
    secret: z.string(),
    /** `otpauth://…`, as a QR code shows it to an app. */
    uri: z.string(),
  })
  .meta({ id: 'SecondFactorSecret' })
export const secondFactorSchema = z
  .object({
    /** Null if there is none. */
    enabled_at: z.iso.datetime().nullable(),
    recovery_codes_left: z.int(),
    /** Whether this session has confirmed it within 30 minutes, or this token was created by one that had. Null without one. */
    confirmed: z.boolean().nullable(),
  })
  .meta({ id: 'SecondFactor' })
export type SecondFactor = z.infer<typeof secondFactorSchema>
export const recoveryCodesSchema = z.object({ recovery_codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' })
/** Of WebAuthn's JSON: base64url without padding. */
const base64urlField = z
  .string()
  .max(20_000)
  .regex(/^[\w-]+$/)
const credentialFields = {
  id: base64urlField,
  rawId: base64urlField,
  type: z.literal('public-key'),
  /** None is asked for. */
  clientExtensionResults: z.object({}).default({}),
}
const transportSchema = z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

/** A security key or passkey of the account. */
export const securityKeySchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    /** Whether it is synchronized between the user's devices. */
    synced: z.boolean(),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'SecurityKey' })
export type SecurityKey = z.infer<typeof securityKeySchema>
export const securityKeyListSchema = z
  .object({
    /** Browsers offer security keys at the address of this server. */
    available: z.boolean(),
    /** Oldest first. */
    security_keys: z.array(securityKeySchema),
  })
  .meta({ id: 'SecurityKeyList' })
export type SecurityKeyList = z.infer<typeof securityKeyListSchema>
/** In the JSON of WebAuthn, Level 3: for `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. */
export const keyOptionsSchema = z.record(z.string(), z.unknown())
export const newSecurityKeySchema = z.strictObject({
  name: line(z.string().trim().min(1).max(80)),
  /** `toJSON()` of the credential. */
  credential: z.object({
    ...credentialFields,
    response: z.object({
      clientDataJSON: base64urlField,
      attestationObject: base64urlField,
      // Transports that are not known are of no use to anyone.
      transports: z
        .array(z.string().max(40))
        .max(20)
        .transform((all) => all.flatMap((one) => transportSchema.safeParse(one).data ?? []))
        .optional(),
    }),
  }),
})
export type NewSecurityKey = z.infer<typeof newSecurityKeySchema>
const securityKeyAnswerSchema = z.object({
  ...credentialFields,
  response: z.object({
    clientDataJSON: base64urlField,
    authenticatorData: base64urlField,
    signature: base64urlField,
    userHandle: z.string().max(200).optional(),
  }),
})
export type SecurityKeyAnswer = z.infer<typeof securityKeyAnswerSchema>
export const securityKeyAnswerRequestSchema = z.strictObject({ credential: securityKeyAnswerSchema })
/** How the session of a browser can be confirmed, besides codes. */
export const browserFactorSchema = z.object({
  /** The login lacks the second factor. */
  awaits_code: z.boolean(),
  /** The account has a security key. */
  security_key: z.boolean(),
})

export const sessionSchema = z.object({ username: z.string() }).meta({ id: 'Session' })

export const sessionListSchema = z.object({
  /** Newest first. */
  sessions: z.array(
    z.object({
      /** Identifies the session in the API; not its cookie. */
      id: z.string(),
      /** The session of this request. */
      current: z.boolean(),
      created_at: z.iso.datetime(),
      /** Extended while the session is used. */
      expires_at: z.iso.datetime(),
    }),
  ),
})

/**
 * A path of this site and nothing else: `//evil.example` and `/\evil.example` are addresses to a browser, which leaves out
 * tabs and line breaks in between. Other characters are percent-encoded.
 */
export const returnToSchema = z
  .string()
  .max(300)
  .regex(/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/, 'must be a path of this site')
export const oauthRequestSchema = z.object({ return_to: returnToSchema.default('/') })
export const oauthCallbackSchema = z.object({
  code: z.string().max(2_000).optional(),
  state: z.string().max(200).optional(),
})

const domainField = z
  .string()
  .max(253)
  .toLowerCase()
  .regex(
    /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
    'a domain such as example.com',
  )

/** The query of `GET /v1/sign-on`. */
export const signOnRequestSchema = z.object({ email: emailField, return_to: returnToSchema.default('/') })

export const setSignOnRequestSchema = z.strictObject({
  /** Address of the OpenID provider; its description is at `/.well-known/openid-configuration` below it. */
  issuer: z.url().max(500),
  client_id: line(z.string().min(1).max(300)),
  client_secret: line(z.string().min(1).max(1_000)),
  /** Role of people who log in for the first time. */
  default_role: z.enum(['admin', 'member', 'viewer']),
})

export const signOnDomainRequestSchema = z.strictObject({ domain: domainField })

/** A domain whose addresses log in through an organization, once its TXT record exists. */
export const signOnDomainSchema = z
  .object({
    domain: z.string(),
    verified: z.boolean(),
    /** TXT record that proves the domain. */
    record: z.object({ name: z.string(), value: z.string() }),
  })
  .meta({ id: 'SignOnDomain' })
export type SignOnDomain = z.infer<typeof signOnDomainSchema>

/** Single sign-on of an organization by OpenID Connect. */
export const signOnSchema = z
  .object({
    provider: z.object({ issuer: z.string(), client_id: z.string(), default_role: roleSchema }).nullable(),
    domains: z.array(signOnDomainSchema),
    /** To register at the provider. */
    redirect_uri: z.string(),
  })
  .meta({ id: 'SignOn' })
export type SignOn = z.infer<typeof signOnSchema>

export const changePasswordRequestSchema = z.strictObject({
  current_password: z.string().max(1_000),
  password: newPasswordField,
  /** Also revoke every token of the account. Default: false. */
  revoke_tokens: z.boolean().optional(),
})

export const createTokenRequestSchema = z.strictObject({
  name: tokenNameField,
  scopes: scopesField,
  /** Default: 90. Created by a token, the new one expires no later than its creator. */
  expires_in_days: z.int().min(1).max(366).optional(),
  /** For the scope `worker`: the work that the token is for. What is omitted is not restricted. */
  worker: z
    .strictObject({
      /** Kinds of jobs it can lease; `call` is for calls of hosted agents. */
      kinds: z.array(workKindSchema).min(1).max(workKindSchema.options.length).optional(),
      /** Name of the only worker that can use it. */
      name: workerNameSchema.optional(),
    })
    .optional(),
})

export const tokenSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    /** Its first characters. */
    prefix: z.string(),
    scopes: z.array(tokenScopeSchema),
    /** The token that created it; null if it was created in a browser or with a password. Revoked along with it. */
    parent_id: z.uuid().nullable(),
    /** What a worker's token is bound to. Null if nothing. */
    worker: z.object({ kinds: z.array(workKindSchema).nullable(), name: z.string().nullable() }).nullable(),
    expires_at: z.iso.datetime().nullable(),
    /** Accurate to five minutes. */
    last_used_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Token' })

/** The only response with the token itself. */
export const createdTokenSchema = tokenSchema.extend({ token: z.string() }).meta({ id: 'CreatedToken' })
export const tokenListSchema = z.object({ tokens: z.array(tokenSchema) })

export const createOrganizationRequestSchema = z.strictObject({
  username: usernameField,
  display_name: line(z.string().trim().min(1).max(80)).optional(),
})

export const organizationSchema = z
  .object({
    username: z.string(),
    kind: z.literal('organisation'),
    display_name: z.string().nullable(),
    created_at: z.iso.datetime(),
    /** Visible to members only. */
    members: z.array(z.object({ username: z.string(), role: roleSchema })).optional(),
    /** Open invitations. Visible to admins only. */
    invitations: z
      .array(z.object({ username: z.string(), role: roleSchema, invited_by: z.string(), expires_at: z.iso.datetime() }))
      .optional(),
  })
  .meta({ id: 'Organisation' })

export const putMemberRequestSchema = z.strictObject({ role: roleSchema })
export const memberSchema = z
  .object({
    username: z.string(),
    role: roleSchema,
    /** `invited`: a member once they accept the invitation. */
    state: z.enum(['member', 'invited']),
  })
  .meta({ id: 'Member' })

export const invitationListSchema = z
  .object({
    /** Newest first. */
    invitations: z.array(
      z.object({
        /** Username of the organization. */
        organisation: z.string(),
        display_name: z.string().nullable(),
        role: roleSchema,
        invited_by: z.string(),
        created_at: z.iso.datetime(),
        expires_at: z.iso.datetime(),
      }),
    ),
  })
  .meta({ id: 'InvitationList' })
export type InvitationList = z.infer<typeof invitationListSchema>

/** The role that the invitation offers: one that has changed meanwhile is not accepted. */
export const acceptInvitationRequestSchema = z.strictObject({ role: roleSchema })

/** `current_password`: required if the account has a password. */
export const changeEmailRequestSchema = z.strictObject({
  email: emailField,
  current_password: z.string().max(1_000).optional(),
})
/** A change of the email address that is not done yet. */
export const emailChangeSchema = z
  .object({
    /** The new address. */
    email: z.string(),
    requested_at: z.iso.datetime(),
    /** The links work until then. */
    expires_at: z.iso.datetime(),
    /** Which addresses have confirmed it. `old` is null if it need not: it was never confirmed itself. */
    confirmed: z.object({ new: z.boolean(), old: z.boolean().nullable() }),
  })
  .meta({ id: 'EmailChange' })
export type EmailChange = z.infer<typeof emailChangeSchema>
export const emailChangeStateSchema = z.object({ email_change: z.union([emailChangeSchema, z.null()]) })
/** `changed`: the other address had confirmed as well. */
export const emailChangeConfirmedSchema = z.object({ changed: z.boolean() })
export const setEmailRequestSchema = z.strictObject({ email: emailField })

export const verifyEmailRequestSchema = z.strictObject({ token: z.string().max(100) })
export const requestPasswordResetSchema = z.strictObject({ email: emailField })
export const resetPasswordRequestSchema = z.strictObject({
  token: z.string().max(100),
  password: newPasswordField,
  /** Also revoke every token of the account. Default: false. */
  revoke_tokens: z.boolean().optional(),
})

/** RFC 8628, in JSON. */
export const createDeviceCodeRequestSchema = z.strictObject({
  /** Name of the token, shown on the approval page. */
  name: tokenNameField,
  scopes: scopesField,
})

export const deviceCodeSchema = z
  .object({
    device_code: z.string(),
    /** For the user to type or compare: `BCDF-GHJK`. */
    user_code: z.string(),
    verification_uri: z.url(),
    verification_uri_complete: z.url(),
    /** Seconds between polls. */
    interval: z.int(),
    /** Seconds. */
    expires_in: z.int(),
  })
  .meta({ id: 'DeviceCode' })

export const deviceTokenRequestSchema = z.strictObject({ device_code: z.string().max(100) })
/** As `CreatedToken`, with the username of the user who approved. */
export const deviceTokenSchema = createdTokenSchema.extend({ username: z.string() }).meta({ id: 'DeviceToken' })

export const auditRequestSchema = z.object({
  actor: line(z.string().max(100)).optional().describe('Username of the actor.'),
  action: line(z.string().max(80)).optional().describe('An action, such as `token.revoke`, or a prefix: `token.`.'),
  subject: line(z.string().max(400)).optional().describe('The exact subject: `account:acme`.'),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z.coerce.number().int().positive().optional().describe('`next_before` of the previous page.'),
})
export const auditListSchema = z
  .object({
    /** Newest first. */
    entries: z.array(
      z.object({
        id: z.int().positive(),
        at: z.iso.datetime(),
        /** Null if unknown or if the account was deleted. */
        actor: z.string().nullable(),
        /** Null for a session. */
        token_id: z.string().nullable(),
        action: z.string(),
        subject: z.string(),
        ip: z.string().nullable(),
        data: z.record(z.string(), z.unknown()),
      }),
    ),
    next_before: z.int().positive().nullable(),
  })
  .meta({ id: 'AuditList' })
export type AuditList = z.infer<typeof auditListSchema>
