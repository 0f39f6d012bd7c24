import { createTransport, type SendMailOptions } from 'nodemailer';
import { DeliveryError } from './message.ts';

export type SmtpTimeouts = {
  connectionMs: number;
  greetingMs: number;
  /** From the start until the server has received the whole message. */
  transferMs: number;
  /** From then on until the server accepts or rejects the message. */
  responseMs: number;
};

const TIMEOUTS: SmtpTimeouts = {
  connectionMs: 15_000,
  greetingMs: 15_000,
  transferMs: 60_000,
  // RFC 5321, 4.5.3.2.6: the server has the message by now, and would get a second copy if the connection were closed.
  responseMs: 600_000,
};

type Progress = { onTransferred: () => void };

const connect = (
  url: string,
  { connectionMs, greetingMs, transferMs, responseMs }: SmtpTimeouts,
  progress: Progress = { onTransferred: () => {} },
) =>
  createTransport({
    url,
    // Nodemailer reports only to its logger that it has written the last byte of a message.
    logger: { info: (entry: unknown) => (entry as { tnx?: string }).tnx === 'message' && progress.onTransferred() },
    pool: true,
    maxConnections: 1,
    // Nodemailer requeues only after an idle connection was closed. Once a byte of the message was sent it reports an
    // error.
    maxRequeues: 1,
    idleTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: connectionMs,
    greetingTimeout: greetingMs,
    // `send` enforces these two timeouts, so nodemailer's own must not fire earlier.
    socketTimeout: transferMs + responseMs,
  });
type PooledTransport = { transport: ReturnType<typeof connect>; progress: Progress };

/** Connects and logs in without sending anything. Throws if the server cannot be reached or rejects the login. */
export async function verifyServer(url: string): Promise<void> {
  const transport = connect(url, TIMEOUTS);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/**
 * Connections to one server, each used for one message at a time and reused for the next. Nodemailer can abort a
 * delivery only by closing the pool it belongs to, so each connection has a nodemailer pool of its own.
 */
export class Smtp {
  readonly #url: string;
  readonly #timeouts: SmtpTimeouts;
  readonly #idle: PooledTransport[] = [];
  #closed = false;

  constructor(url: string, timeouts: Partial<SmtpTimeouts> = {}) {
    this.#url = url;
    this.#timeouts = { ...TIMEOUTS, ...timeouts };
  }

  /** Sends the mail and returns the server's response. */
  async send(mail: SendMailOptions, signal: AbortSignal): Promise<string> {
    const { transferMs, responseMs } = this.#timeouts;
    const pooled = this.#idle.pop() ?? this.#connect();
    const { transport, progress } = pooled;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    let transferred = false;
    const abort = (reason: string) => {
      transport.close({ force: true });
      reject(new DeliveryError(reason, { permanent: false, uncertain: transferred }));
    };
    const onTimeout = () => abort('The mail server took too long.');
    let timer = setTimeout(onTimeout, transferMs);
    progress.onTransferred = () => {
      transferred = true;
      clearTimeout(timer);
      timer = setTimeout(onTimeout, responseMs);
    };
    const onAbort = () => abort('The worker stopped.');
    signal.addEventListener('abort', onAbort);
    try {
      const { response } = await Promise.race([transport.sendMail(mail), aborted]);
      if (this.#closed) transport.close();
      else this.#idle.push(pooled);
      return response;
    } catch (error) {
      transport.close({ force: true });
      throw error instanceof DeliveryError ? error : toDeliveryError(error as SmtpError, transferred);
    } finally {
      progress.onTransferred = () => {};
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { transport } of this.#idle.splice(0)) transport.close();
  }

  #connect(): PooledTransport {
    const progress: Progress = { onTransferred: () => {} };
    return { transport: connect(this.#url, this.#timeouts, progress), progress };
  }
}

type SmtpError = Error & { code?: string; responseCode?: number; response?: string };

// The server rejected this sender, recipient or message. All other errors, a rejected login above all, concern the
// connection or the settings, and must not make the message fail for good.
const MESSAGE_ERROR_CODES = ['EENVELOPE', 'EMESSAGE'];

function toDeliveryError(error: SmtpError, transferred: boolean): DeliveryError {
  const { code = '', responseCode = 0, response } = error;
  const rejected = MESSAGE_ERROR_CODES.includes(code) && responseCode >= 500;
  // Nodemailer itself rejects an address that no server could accept; no server response comes with that.
  const invalidAddress = code === 'EENVELOPE' && responseCode === 0;
  const reason = response ? `The mail server said: ${response}` : `The mail server could not be used: ${error.message}`;
  const uncertain = transferred && responseCode === 0;
  return new DeliveryError(reason, { permanent: rejected || invalidAddress, uncertain, cause: error });
}
