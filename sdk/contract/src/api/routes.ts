import type { z } from 'zod'
import { sampleEpisodeSchema } from '../sample-episode.ts'
import * as accounts from './accounts.ts'
import * as analytics from './analytics.ts'
import * as catalog from './catalog.ts'
import { packageViewSchema } from './catalog.ts'
import * as demonstrations from './demonstrations.ts'
import * as files from './files.ts'
import * as hosting from './hosting.ts'
import * as jobs from './jobs.ts'
import * as notifications from './notifications.ts'
import * as orders from './orders.ts'
import * as packages from './packages.ts'
import * as payments from './payments.ts'
import * as prices from './prices.ts'
import * as rentals from './rentals.ts'
import * as reviews from './reviews.ts'
import * as rpc from './rpc.ts'
import * as runEpisodes from './run-episodes.ts'
import * as runs from './runs.ts'
import * as verification from './verification.ts'
import * as webhooks from './webhooks.ts'

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Bodies and responses are JSON by a schema, or bytes and text of a media type. */
export type ApiRoute = {
  query?: z.ZodObject
  headers?: z.ZodObject
  body?: z.ZodType | string
  /** Of a success; without it a success has no content. */
  response?: z.ZodType | string
  /** A success may also be 204, without content. */
  mayBeEmpty?: true
}

const idempotent = { headers: rpc.idempotencyHeadersSchema }
const lease = { headers: jobs.leaseHeadersSchema }
const asWorker = { headers: jobs.workerHeadersSchema }
const bytes = 'application/octet-stream'

/**
 * Every route of the HTTP API with the schemas of its requests and responses: the client's types are inferred from it.
 * Parameters in braces are strings. `infra/checks/api-routes.test.ts` compares it with the server's OpenAPI document.
 */
export const apiRoutes = {
  // Server
  'GET /healthz': { response: runs.healthSchema },
  'GET /readyz': {
    response: runs.readinessSchema,
  },
  'GET /v1/queue-history': { query: jobs.queueHistoryRequestSchema, response: jobs.queueHistorySchema },
  'GET /v1/status': { response: runs.serverStatusSchema },
  'GET /v1/rentals': { query: rentals.rentalListRequestSchema, response: rentals.rentalListSchema },
  'POST /v1/rentals': { body: rentals.reserveRentalRequestSchema, response: rentals.reservedRentalSchema },
  'GET /v1/rentals/{id}': { response: rentals.rentalSchema },
  'PUT /v1/rentals/{id}': { body: rentals.endRentalRequestSchema, response: rentals.rentalSchema },
  'POST /v1/worker-holds/{id}/release': {},
  'DELETE /v1/packages/{scope}/{name}/versions/{version}/nondeterministic': { response: verification.clearedSchema },
  'GET /v1/seasons': { query: verification.seasonsRequestSchema, response: verification.seasonListSchema },
  'GET /v1/keys': { response: verification.signingKeysSchema },

  // Accounts
  'POST /v1/accounts': { body: accounts.signUpRequestSchema, response: accounts.accountSchema },
  'GET /v1/accounts': { query: accounts.accountListRequestSchema, response: accounts.accountListSchema },
  'PUT /v1/accounts/{username}/operator': {},
  'DELETE /v1/accounts/{username}/operator': {},
  'PUT /v1/accounts/{username}/disabled': { body: accounts.disableAccountRequestSchema },
  'DELETE /v1/accounts/{username}/disabled': {},
  'DELETE /v1/accounts/{username}/second-factor': {},
  'POST /v1/accounts/{username}/sign-out': { body: accounts.signOutRequestSchema },
  'GET /v1/accounts/{username}': { response: catalog.publisherSchema },
  'GET /v1/account': { response: accounts.ownAccountSchema },
  'PUT /v1/account/operator': { body: accounts.claimRequestSchema },
  'POST /v1/account/sign-out': { body: accounts.signOutRequestSchema },
  'GET /v1/account/second-factor': { response: accounts.secondFactorSchema },
  'POST /v1/account/second-factor': {
    body: accounts.beginSecondFactorRequestSchema,
    response: accounts.secondFactorSecretSchema,
  },
  'PUT /v1/account/second-factor': { body: accounts.secondFactorCodeSchema, response: accounts.recoveryCodesSchema },
  'DELETE /v1/account/second-factor': {},
  'POST /v1/account/second-factor/recovery-codes': { response: accounts.recoveryCodesSchema },
  'GET /v1/account/security-keys': { response: accounts.securityKeyListSchema },
  'POST /v1/account/security-keys': { body: accounts.newSecurityKeySchema, response: accounts.securityKeySchema },
  'POST /v1/account/security-keys/options': { response: accounts.keyOptionsSchema },
  'DELETE /v1/account/security-keys/{id}': {},
  'GET /v1/sessions/current/second-factor': { response: accounts.browserFactorSchema },
  'POST /v1/sessions/current/security-key/options': { response: accounts.keyOptionsSchema },
  'POST /v1/sessions/current/security-key': {
    body: accounts.securityKeyAnswerRequestSchema,
    response: accounts.sessionSchema,
  },
  'GET /v1/notifications': {
    query: notifications.notificationListRequestSchema,
    response: notifications.notificationListSchema,
  },
  'POST /v1/notifications/read': { body: notifications.readNotificationsRequestSchema },
  'GET /v1/notification-settings': { response: notifications.notificationSettingsSchema },
  'PUT /v1/notification-settings/{topic}': {
    body: notifications.putNotificationSettingRequestSchema,
    response: notifications.notificationSettingSchema,
  },
  'GET /v1/webhooks': { query: webhooks.webhookListRequestSchema, response: webhooks.webhookListSchema },
  'POST /v1/webhooks': { body: webhooks.createWebhookRequestSchema, response: webhooks.createdWebhookSchema },
  'GET /v1/webhooks/{id}': { response: webhooks.webhookSchema },
  'PUT /v1/webhooks/{id}': { body: webhooks.changeWebhookRequestSchema, response: webhooks.webhookSchema },
  'DELETE /v1/webhooks/{id}': {},
  'POST /v1/webhooks/{id}/secret': { response: webhooks.webhookSecretSchema },
  'POST /v1/webhooks/{id}/test': { response: webhooks.webhookDeliverySchema },
  'GET /v1/webhooks/{id}/deliveries': {
    query: webhooks.webhookDeliveryListRequestSchema,
    response: webhooks.webhookDeliveryListSchema,
  },
  'POST /v1/webhooks/{id}/deliveries/{delivery}/resend': { response: webhooks.webhookDeliverySchema },
  'PUT /v1/account/password': { body: accounts.changePasswordRequestSchema },
  'POST /v1/account/verification-mail': {},
  'GET /v1/account/email-change': { response: accounts.emailChangeStateSchema },
  'POST /v1/account/email-change': {
    body: accounts.changeEmailRequestSchema,
    response: accounts.emailChangeSchema,
  },
  'DELETE /v1/account/email-change': {},
  'POST /v1/email-changes': {
    body: accounts.verifyEmailRequestSchema,
    response: accounts.emailChangeConfirmedSchema,
  },
  'POST /v1/email-changes/cancellation': { body: accounts.verifyEmailRequestSchema },
  'PUT /v1/accounts/{username}/email': { body: accounts.setEmailRequestSchema },
  'POST /v1/email-verifications': { body: accounts.verifyEmailRequestSchema },
  'POST /v1/password-resets': { body: accounts.requestPasswordResetSchema },
  'PUT /v1/password-resets': { body: accounts.resetPasswordRequestSchema },
  'GET /v1/sessions': { response: accounts.sessionListSchema },
  'POST /v1/sessions': { body: accounts.logInRequestSchema, response: accounts.sessionSchema },
  'DELETE /v1/sessions/current': {},
  'POST /v1/sessions/current/second-factor': {
    body: accounts.secondFactorCodeSchema,
    response: accounts.sessionSchema,
  },
  'DELETE /v1/sessions/{id}': {},
  'GET /v1/tokens': { response: accounts.tokenListSchema },
  'POST /v1/tokens': { body: accounts.createTokenRequestSchema, response: accounts.createdTokenSchema },
  'DELETE /v1/tokens/{id}': {},
  'POST /v1/device-codes': { body: accounts.createDeviceCodeRequestSchema, response: accounts.deviceCodeSchema },
  'POST /v1/device-codes/token': { body: accounts.deviceTokenRequestSchema, response: accounts.deviceTokenSchema },
  'GET /v1/oauth/{provider}': { query: accounts.oauthRequestSchema },
  'GET /v1/oauth/{provider}/callback': { query: accounts.oauthCallbackSchema },
  'POST /v1/organisations': { body: accounts.createOrganizationRequestSchema, response: accounts.organizationSchema },
  'GET /v1/organisations/{organisation}': { response: accounts.organizationSchema },
  'PUT /v1/organisations/{organisation}/members/{username}': {
    body: accounts.putMemberRequestSchema,
    response: accounts.memberSchema,
  },
  'DELETE /v1/organisations/{organisation}/members/{username}': {},
  'GET /v1/organisations/{organisation}/sign-on': { response: accounts.signOnSchema },
  'PUT /v1/organisations/{organisation}/sign-on': {
    body: accounts.setSignOnRequestSchema,
    response: accounts.signOnSchema,
  },
  'DELETE /v1/organisations/{organisation}/sign-on': {},
  'POST /v1/organisations/{organisation}/sign-on/domains': {
    body: accounts.signOnDomainRequestSchema,
    response: accounts.signOnDomainSchema,
  },
  'POST /v1/organisations/{organisation}/sign-on/domains/{domain}/verify': { response: accounts.signOnDomainSchema },
  'DELETE /v1/organisations/{organisation}/sign-on/domains/{domain}': {},
  'GET /v1/sign-on': { query: accounts.signOnRequestSchema },
  'GET /v1/sign-on/callback': {},
  'GET /v1/invitations': { response: accounts.invitationListSchema },
  'PUT /v1/invitations/{organisation}': {
    body: accounts.acceptInvitationRequestSchema,
    response: accounts.memberSchema,
  },
  'DELETE /v1/invitations/{organisation}': {},
  'GET /v1/audit': { query: accounts.auditRequestSchema, response: accounts.auditListSchema },

  // Packages
  'GET /v1/packages': { query: catalog.searchRequestSchema, response: catalog.packageListSchema },
  'GET /v1/packages/{scope}/{name}': { response: catalog.packagePageSchema },
  'GET /v1/packages/{scope}/{name}/view': { response: packageViewSchema },
  'GET /v1/packages/{scope}/{name}/versions/{version}/files': { response: files.fileListSchema },
  'POST /v1/packages/{scope}/{name}/versions/{version}/files': {},
  'GET /v1/packages/{scope}/{name}/versions/{version}/files/view': {
    query: files.fileRequestSchema,
    response: files.fileViewSchema,
  },
  'GET /v1/packages/{scope}/{name}/versions/{version}/files/content': {
    query: files.fileRequestSchema,
    response: bytes,
  },
  'GET /v1/packages/{scope}/{name}/versions/{version}/compare/{base}': { response: files.versionComparisonSchema },
  'GET /v1/packages/{scope}/{name}/changes': {
    query: packages.changesRequestSchema,
    response: packages.changeListSchema,
  },
  'GET /v1/package-names': { query: catalog.packageNamesRequestSchema, response: catalog.packageNamesSchema },
  'GET /v1/packages/{scope}/{name}/dependents': { response: catalog.dependentsSchema },
  'GET /v1/packages/{scope}/{name}/resolve': {
    query: packages.resolveRequestSchema,
    response: packages.resolvedVersionSchema,
  },
  'GET /v1/packages/{scope}/{name}/tags': { response: packages.tagListSchema },
  'PUT /v1/packages/{scope}/{name}/tags/{tag}': { body: packages.tagRequestSchema },
  'DELETE /v1/packages/{scope}/{name}/tags/{tag}': {},
  'GET /v1/packages/{scope}/{name}/versions': { response: packages.versionListSchema },
  'GET /v1/packages/{scope}/{name}/versions/{version}': { response: packages.versionDetailsSchema },
  'PUT /v1/packages/{scope}/{name}/versions/{version}': {
    query: packages.publishRequestSchema,
    body: bytes,
    response: packages.publishedVersionSchema,
  },
  'PUT /v1/packages/{scope}/{name}/versions/{version}/deprecation': { body: packages.deprecationRequestSchema },
  'PUT /v1/packages/{scope}/{name}/versions/{version}/yank': {},
  'DELETE /v1/packages/{scope}/{name}/versions/{version}/yank': {},
  'GET /v1/packages/{scope}/{name}/versions/{version}/readme': { response: catalog.versionReadmeSchema },
  'GET /v1/packages/{scope}/{name}/versions/{version}/readme/pictures/{hash}': { response: 'image/*' },
  'GET /v1/packages/{scope}/{name}/versions/{version}/sample-episode': { response: sampleEpisodeSchema },
  'GET /v1/packages/{scope}/{name}/versions/{version}/comparison': {
    query: verification.agentComparisonRequestSchema,
    response: verification.agentComparisonSchema,
  },
  'GET /v1/packages/{scope}/{name}/versions/{version}/leaderboard': {
    query: verification.leaderboardRequestSchema,
    response: verification.leaderboardSchema,
  },
  'POST /v1/packages/{scope}/{name}/versions/{version}/verification': { response: runs.evaluationJobSchema },

  // Training
  'GET /v1/runs': { query: runs.runListRequestSchema, response: runs.runListSchema },
  'POST /v1/runs': {
    headers: rpc.startRunHeadersSchema,
    body: runs.startRunRequestSchema,
    response: runs.runSchema,
  },
  'GET /v1/runs/{id}': { response: runs.runSchema },
  'GET /v1/runs/{id}/events': {
    query: runs.runEventsRequestSchema,
    headers: runs.runEventsHeadersSchema,
    response: 'text/event-stream',
    mayBeEmpty: true,
  },
  'GET /v1/runs/{id}/metrics': { query: runs.runMetricsRequestSchema, response: runs.runMetricsSchema },
  'GET /v1/runs/{id}/metrics.csv': { response: 'text/csv' },
  'GET /v1/runs/{id}/metrics.jsonl': { response: 'application/x-ndjson' },
  'GET /v1/runs/{id}/metrics.tfevents': { response: bytes },
  'GET /v1/runs/{id}/checkpoints': { response: runs.checkpointListSchema },
  'GET /v1/runs/{id}/checkpoints/{iteration}': { response: bytes },
  'GET /v1/runs/{id}/agent': { response: bytes },
  'GET /v1/runs/{id}/trajectories': { response: 'application/x-ndjson' },
  'GET /v1/runs/{id}/episodes': { response: runEpisodes.runEpisodeListSchema },
  'GET /v1/runs/{id}/episodes/{iteration}': { response: sampleEpisodeSchema },
  'POST /v1/runs/{id}/cancel': { response: runs.runSchema },
  'POST /v1/runs/{id}/pause': { response: runs.runSchema },
  'POST /v1/runs/{id}/resume': { body: runs.resumeRunRequestSchema, response: runs.runSchema },
  'POST /v1/runs/{id}/evaluations': { body: runs.evaluateRunRequestSchema, response: runs.evaluationJobSchema },
  'POST /v1/runs/{id}/publish': { body: runs.publishRunRequestSchema, response: packages.publishedVersionSchema },
  'GET /v1/runs/{id}/sharing': { response: runs.runSharingSchema },
  'PUT /v1/runs/{id}/sharing': { body: runs.runSharingRequestSchema, response: runs.runSharingSchema },
  'POST /v1/runs/{id}/link': { response: runs.runLinkSchema },
  'DELETE /v1/runs/{id}/link': { response: runs.runSharingSchema },
  'GET /v1/runs/{id}/shared': { headers: runs.sharedRunHeadersSchema, response: runs.sharedRunSchema },
  'GET /v1/runs/{id}/shared/episodes/{iteration}': {
    headers: runs.sharedRunHeadersSchema,
    response: sampleEpisodeSchema,
  },
  'GET /v1/evaluations/{id}': { response: runs.evaluationJobSchema },
  'POST /rpc': {
    body: rpc.rpcBodySchema,
    response: rpc.rpcResultSchema,
    mayBeEmpty: true,
  },

  // Hosting
  'POST /v1/packages/{scope}/{name}/calls': {
    headers: hosting.hostedCallHeadersSchema,
    body: hosting.hostedCallRequestSchema,
    response: hosting.hostedCallSchema,
  },
  'POST /v1/chat/completions': {
    headers: hosting.hostedCallHeadersSchema,
    body: hosting.chatRequestSchema,
    response: hosting.chatCompletionSchema,
  },
  'POST /v1/responses': {
    headers: hosting.hostedCallHeadersSchema,
    body: hosting.responseRequestSchema,
    response: hosting.responseSchema,
  },
  'POST /mcp/{scope}/{name}': {
    headers: hosting.hostedCallHeadersSchema.pick({ 'agentgym-max-price': true }),
    body: hosting.mcpRequestSchema,
    response: hosting.mcpResponseSchema,
    mayBeEmpty: true,
  },
  'POST /v1/decisions': {
    headers: hosting.hostedCallHeadersSchema,
    body: hosting.decisionRequestSchema,
    response: hosting.decisionSchema,
  },
  'POST /v1/systemone': {
    headers: hosting.hostedCallHeadersSchema,
    body: hosting.systemOneRequestSchema,
    response: hosting.systemOneSchema,
  },
  'GET /v1/models': { response: hosting.modelListSchema },
  'POST /v1/hosted-calls/lease': {
    ...asWorker,
    body: hosting.leaseCallsRequestSchema,
    response: hosting.leasedCallsSchema,
    mayBeEmpty: true,
  },
  'POST /v1/hosted-calls/answers': {
    body: hosting.callAnswersRequestSchema,
    response: hosting.callAnswersTakenSchema,
  },
  'GET /v1/hosted-calls/tarballs/{id}': { ...lease, response: bytes },

  // Market
  'GET /v1/packages/{scope}/{name}/price': { response: prices.pricePageSchema },
  'PUT /v1/packages/{scope}/{name}/price': { body: prices.setPriceRequestSchema, response: prices.pricePageSchema },
  'GET /v1/packages/{scope}/{name}/offer': { query: prices.offerRequestSchema, response: prices.offerSchema },
  'GET /v1/orders': { query: orders.orderListRequestSchema, response: orders.orderListSchema },
  'POST /v1/orders': { ...idempotent, body: orders.createOrderRequestSchema, response: orders.orderSchema },
  'GET /v1/orders/{id}': { response: orders.orderSchema },
  'POST /v1/orders/{id}/cancel': { response: orders.orderSchema },
  'POST /v1/orders/{id}/refunds': { ...idempotent, body: orders.refundRequestSchema, response: orders.orderSchema },
  'GET /v1/entitlements': { query: orders.entitlementListRequestSchema, response: orders.entitlementListSchema },
  'GET /v1/spend-caps': { query: orders.spendCapListRequestSchema, response: orders.spendCapListSchema },
  'PUT /v1/spend-caps': { body: orders.putSpendCapRequestSchema, response: orders.spendCapSchema },
  'DELETE /v1/spend-caps/{id}': {},
  'GET /v1/balance': { query: payments.balanceRequestSchema, response: payments.balanceSchema },
  'POST /v1/top-ups': { ...idempotent, body: payments.topUpRequestSchema, response: payments.paymentSchema },
  'GET /v1/payments': { query: payments.paymentListRequestSchema, response: payments.paymentListSchema },
  'GET /v1/payments/{id}': { response: payments.paymentSchema },
  'POST /v1/webhooks/stripe': { response: payments.webhookReceivedSchema },
  'GET /v1/packages/{scope}/{name}/analytics': {
    query: analytics.packageAnalyticsRequestSchema,
    response: analytics.packageAnalyticsSchema,
  },
  'GET /v1/packages/{scope}/{name}/analytics.csv': {
    query: analytics.packageAnalyticsRequestSchema,
    response: 'text/csv',
  },
  'GET /v1/earnings': { query: payments.earningsRequestSchema, response: payments.earningsSchema },
  'GET /v1/earnings.csv': { query: payments.earningsRequestSchema, response: 'text/csv' },
  'GET /v1/earnings/days': { query: payments.earningsDaysRequestSchema, response: payments.earningsDaysSchema },
  'GET /v1/earnings/entries': {
    query: payments.earningsEntriesRequestSchema,
    response: payments.earningsEntriesSchema,
  },
  'GET /v1/payout-destination': {
    query: payments.putPayoutDestinationRequestSchema,
    response: payments.payoutDestinationSchema,
  },
  'PUT /v1/payout-destination': {
    body: payments.putPayoutDestinationRequestSchema,
    response: payments.payoutDestinationSchema,
  },
  'GET /v1/payouts': { query: payments.payoutListRequestSchema, response: payments.payoutListSchema },
  'POST /v1/payouts': { ...idempotent, body: payments.payoutRequestSchema, response: payments.payoutSchema },
  'GET /v1/packages/{scope}/{name}/reviews': {
    query: reviews.reviewListRequestSchema,
    response: reviews.reviewListSchema,
  },
  'PUT /v1/packages/{scope}/{name}/reviews': { body: reviews.putReviewRequestSchema, response: reviews.reviewSchema },
  'DELETE /v1/reviews/{id}': {},
  'PUT /v1/reviews/{id}/reply': { body: reviews.replyRequestSchema, response: reviews.reviewSchema },
  'DELETE /v1/reviews/{id}/reply': {},
  'GET /v1/packages/{scope}/{name}/versions/{version}/demonstrations': {
    query: demonstrations.keptEpisodesRequestSchema,
    response: demonstrations.keptEpisodeListSchema,
  },
  'POST /v1/packages/{scope}/{name}/versions/{version}/demonstrations': {
    body: demonstrations.keepEpisodeRequestSchema,
    response: demonstrations.keptEpisodeSchema,
  },
  'GET /v1/packages/{scope}/{name}/versions/{version}/demonstrations.jsonl': { response: 'application/x-ndjson' },
  'GET /v1/demonstrations/{id}/episode.jsonl': { response: 'application/x-ndjson' },
  'DELETE /v1/demonstrations/{id}': {},
  'POST /v1/demonstrations/{id}/removal': { body: demonstrations.removeEpisodeRequestSchema },
  'GET /v1/reports': { query: reviews.reportListRequestSchema, response: reviews.reportListSchema },
  'POST /v1/reports': { body: reviews.createReportRequestSchema, response: reviews.reportSchema },
  'POST /v1/reports/{id}/decision': { body: reviews.decideReportRequestSchema, response: reviews.reportSchema },
  'GET /v1/packages/{scope}/{name}/moderation': { response: reviews.moderationSchema },
  'POST /v1/packages/{scope}/{name}/take-down': {
    body: reviews.takeDownRequestSchema,
    response: reviews.moderationSchema,
  },
  'POST /v1/packages/{scope}/{name}/restore': {
    body: reviews.restoreRequestSchema,
    response: reviews.moderationSchema,
  },
  'POST /v1/reviews/{id}/appeals': { body: reviews.appealRequestSchema, response: reviews.reportSchema },
  'POST /v1/demonstrations/{id}/appeals': { body: reviews.appealRequestSchema, response: reviews.reportSchema },
  'POST /v1/packages/{scope}/{name}/appeals': { body: reviews.appealRequestSchema, response: reviews.moderationSchema },
  'POST /v1/usage-events': { body: payments.usageEventsRequestSchema, response: payments.usageAcceptedSchema },
  'POST /v1/call-allowance': { body: payments.callAllowanceRequestSchema, response: payments.callAllowanceSchema },

  // Jobs
  'POST /v1/jobs/lease': {
    ...asWorker,
    body: jobs.leaseRequestSchema,
    response: jobs.leaseResponseSchema,
    mayBeEmpty: true,
  },
  'POST /v1/jobs/{id}/heartbeat': { body: jobs.heartbeatRequestSchema, response: jobs.heartbeatSchema },
  'POST /v1/jobs/{id}/release': { body: jobs.releaseRequestSchema },
  'POST /v1/jobs/{id}/result': { body: jobs.jobResultRequestSchema, response: jobs.jobResultSchema },
  'GET /v1/jobs/{id}/tarball': { ...lease, response: bytes },
  'GET /v1/jobs/{id}/previous': { ...lease, response: bytes },
  'POST /v1/jobs/{id}/progress': { body: jobs.progressRequestSchema, response: jobs.heartbeatSchema },
  'PUT /v1/jobs/{id}/checkpoint': {
    ...lease,
    query: jobs.checkpointQuerySchema,
    body: bytes,
    response: jobs.heartbeatSchema,
  },
  'PUT /v1/jobs/{id}/parts': { ...lease, body: bytes, response: jobs.uploadPartSchema },
  'POST /v1/jobs/{id}/checkpoint': { body: jobs.checkpointPartsRequestSchema, response: jobs.heartbeatSchema },
  'POST /v1/jobs/{id}/agent': { body: jobs.agentPartsRequestSchema, response: jobs.agentUploadSchema },
  'GET /v1/jobs/{id}/checkpoint': { ...lease, query: jobs.checkpointDownloadQuerySchema, response: bytes },
  'POST /v1/jobs/{id}/trajectories': { body: jobs.trajectoriesRequestSchema },
  'POST /v1/jobs/{id}/episodes': { body: jobs.runEpisodeRequestSchema },
  'PUT /v1/jobs/{id}/agent': { ...lease, body: bytes, response: jobs.agentUploadSchema },
  'POST /v1/jobs/{id}/outcome': { body: jobs.outcomeRequestSchema, response: jobs.outcomeResultSchema },
  'GET /v1/jobs/{id}/scenario': { ...lease, response: bytes },
  'GET /v1/jobs/{id}/parent': { ...lease, response: bytes },
  'POST /v1/jobs/{id}/replay': { body: jobs.replayResultRequestSchema },
  'GET /v1/jobs/{id}/replay/tarball': { ...lease, response: bytes },
  'POST /v1/jobs/{id}/evaluation': { body: jobs.evaluationResultRequestSchema },
  'GET /v1/jobs/{id}/evaluation/{what}': { ...lease, response: bytes },
} as const satisfies Record<`${ApiMethod} /${string}`, ApiRoute>
