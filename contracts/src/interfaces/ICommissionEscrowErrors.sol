// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Errors of the commission escrow
interface ICommissionEscrowErrors {
    /// @notice No purchase is recorded under the payer and the nonce of the terms.
    /// @dev Take payer and nonce from `EscrowDeposited`, and call the escrow contract that emitted it.
    /// @param escrowId The id given in the terms; not verified
    error NoEscrow(uint256 escrowId);

    /// @notice The terms are not the recorded ones: a field differs, or the escrow was bound to an agent in the meantime.
    /// @dev Take the terms from `EscrowDeposited`, and the buying agent from `EscrowBound` if there is such an event.
    /// @param escrowId The id given in the terms; not verified
    error TermsMismatch(uint256 escrowId);

    /// @notice The payment already has an escrow. The router throws it too when that payment is to be taken back.
    /// @dev Do not retry: the purchase is recorded. To buy again, the payer signs a payment with another nonce.
    /// @param payer The wallet that paid
    /// @param nonce The payment's nonce
    /// @param escrowId The escrow of the payment
    error PaymentAlreadySplit(address payer, bytes32 nonce, uint256 escrowId);

    /// @notice The depositor called `deposit` without having sent the money before.
    /// @dev The depositor sends `owed - balance` more before it deposits. The split router always does; this points to a fault
    /// in another depositor.
    /// @param owed What this contract would owe with the deposit, in USDC base units
    /// @param balance Its balance, in USDC base units
    error Underfunded(uint256 owed, uint256 balance);

    /// @notice `bind` was called by another account than the one that paid.
    /// @dev Send the transaction from `payer`.
    /// @param caller Who called
    /// @param payer The wallet that paid
    error NotBuyerWallet(address caller, address payer);

    /// @notice The caller of `bind` does not own the agent it names.
    /// @dev Name an agent that the paying wallet owns; register one with that wallet if it has none.
    /// @param caller The wallet that paid
    /// @param agentId The named agent, possibly one that does not exist
    error NotAgentController(address caller, uint256 agentId);

    /// @notice `bind` was called for an escrow that has a buying agent.
    /// @dev Do not retry: a bound agent cannot be replaced. It is in `EscrowBound`, or in `EscrowDeposited` when the agent
    /// itself bought.
    /// @param escrowId Id of the escrow
    error AlreadyBound(uint256 escrowId);

    /// @notice The escrow is settled.
    /// @dev Do not retry: `EscrowSettled` says who got what.
    /// @param escrowId Id of the escrow
    error AlreadySettled(uint256 escrowId);

    /// @notice The cashback was released before.
    /// @dev Do not retry: `CashbackReleased` says how much went to whom.
    /// @param escrowId Id of the escrow
    error CashbackAlreadyReleased(uint256 escrowId);

    /// @notice The cashback was to go to the buyer, but the purchase has no buying agent.
    /// @dev Retry after the paying wallet has called `bind`, or settle with `cashbackEarned` false.
    /// @param escrowId Id of the escrow
    error NotBound(uint256 escrowId);

    /// @notice `settle` was called before the window ended.
    /// @dev Retry at `windowEnd` or later.
    /// @param windowEnd Unix seconds from which the oracle may settle
    /// @param timestamp The block timestamp, in Unix seconds
    error WindowOpen(uint256 windowEnd, uint256 timestamp);

    /// @notice `settleFallback` was called too early.
    /// @dev Retry at `availableAt` or later. A pause in the meantime moves that time.
    /// @param availableAt Unix seconds from which anyone may settle
    /// @param timestamp The block timestamp, in Unix seconds
    error FallbackTooEarly(uint256 availableAt, uint256 timestamp);

    /// @notice `claimForAgent` was called for an identity for which nothing waits.
    /// @dev Read `claimableByAgent(agentId)` before the next call. What a named account could not be paid is in `claimable(account)`.
    /// @param agentId The identity named in the call
    error NothingToClaimForAgent(uint256 agentId);

    /// @notice The identity registry does not tell whom to pay for the identity. Its money goes on waiting.
    /// @dev Retry when the registry answers. If it no longer tells wallets, the identity's owner makes the call.
    /// @param agentId The identity named in the call
    error AgentNotPayable(uint256 agentId);

    /// @notice A batch came with too little gas for its next escrow; the whole batch reverts.
    /// @dev Send it again with a higher gas limit or with fewer escrows: `needed` must be left before each.
    /// @param available Gas that was left
    /// @param needed Gas that the next escrow needs
    error NotEnoughGas(uint256 available, uint256 needed);

    /// @notice `releaseOne` or `settleOne` was called from outside.
    /// @dev Call `releaseBatch` or `settleBatch`, or `releaseCashback` or `settle` for a single escrow.
    /// @param caller Who called
    error OnlySelf(address caller);
}
