// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {AddressRegistry} from "./AddressRegistry.sol";
import {Payouts} from "./base/Payouts.sol";
import {Roles} from "./base/Roles.sol";
import {ICommissionEscrowErrors} from "./interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "./interfaces/ICommissionEscrowEvents.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {AddressKeys} from "./libraries/AddressKeys.sol";
import {Identities} from "./libraries/Identities.sol";

/// @title Escrow of held-back commission and cashback
/// @notice Every purchase leaves an escrow here: the part of the reviewer's commission that is held back, and the cashback that
/// the buyer can earn. The oracle settles it once the window has ended. If the oracle does not, anyone can after a further
/// delay.
/// @dev An escrow is one storage word: a digest of its terms, its id and its flags. Whoever acts on an escrow passes the terms,
/// which `EscrowDeposited` (and `EscrowBound`) published. The word is keyed by the payer and the payment's nonce, so that the
/// set of escrows is also the set of payments that were ever split: no payment can be split twice.
contract CommissionEscrow is ICommissionEscrowEvents, ICommissionEscrowErrors, Roles, Payouts, Pausable {
    using Identities for IIdentityRegistry;
    using SafeCast for uint256;

    /// @notice The terms of an escrow. Amounts are in USDC base units.
    /// @param escrowId Id of the escrow, counted from 1
    /// @param payer The wallet that paid; earned cashback goes there
    /// @param nonce The payment's nonce, unique per payer
    /// @param merchantId The merchant that sold
    /// @param productId The product that was sold
    /// @param reviewId The review whose link led to the purchase
    /// @param reviewerAgentId The agent that wrote the review
    /// @param buyerAgentId The agent that bought; `AGENTLESS` when a wallet bought without one and has not bound one yet
    /// @param heldBack The reviewer's part that waits
    /// @param cashback The buyer's part that waits; zero when none was pledged
    /// @param windowEnd Unix seconds from which the oracle may settle
    struct Terms {
        uint256 escrowId;
        address payer;
        bytes32 nonce;
        uint256 merchantId;
        bytes32 productId;
        uint256 reviewId;
        uint256 reviewerAgentId;
        uint256 buyerAgentId;
        uint256 heldBack;
        uint256 cashback;
        uint256 windowEnd;
    }

    /// @notice The oracle's decision about one escrow of a batch.
    /// @param terms The escrow's present terms
    /// @param contradicted Whether the buyers contradicted the review
    /// @param cashbackEarned Whether the buyer earned the cashback
    struct Settlement {
        Terms terms;
        bool contradicted;
        bool cashbackEarned;
    }

    /// @notice Whether an escrow does not exist (`None`), waits for settlement (`Holding`) or is settled for good (`Settled`).
    enum State {
        None,
        Holding,
        Settled
    }

    /// @notice The buyer id of a purchase that a wallet made without an agent. It is not zero, because agent 0 exists.
    uint256 public constant AGENTLESS = Identities.AGENTLESS;

    /// @dev Gas limit of one escrow of a batch: several times what it needs, and the most it can cost when the token
    /// burns all the gas it gets.
    uint256 private constant GAS_PER_ESCROW = 320_000;

    uint256 private constant SETTLED = 1;
    uint256 private constant CASHBACK_RELEASED = 2;
    uint256 private constant BOUND = 4;
    uint256 private constant FLAGS_BITS = 8;
    uint256 private constant ID_BITS = 48;
    /// @dev 200 bits of digest remain: finding two terms with the same digest takes 2^100 tries.
    uint256 private constant DIGEST_MASK = ~((uint256(1) << (FLAGS_BITS + ID_BITS)) - 1);

    /// @notice Knows the address of the treasury.
    AddressRegistry public immutable ADDRESSES;
    /// @notice The registry whose identities buyers and reviewers are.
    IIdentityRegistry public immutable IDENTITIES;
    /// @notice Seconds from a purchase to the end of its window.
    uint256 public immutable WINDOW;
    /// @notice Seconds from the end of the window until anyone may settle.
    uint256 public immutable FALLBACK_DELAY;

    /// @notice The id of the newest escrow; zero before the first purchase.
    uint48 public lastEscrowId;
    /// @notice What all unsettled escrows hold together, in USDC base units.
    uint64 public totalHeld;
    /// @notice The platform's fees that were not sent to the treasury yet, in USDC base units.
    uint64 public fees;

    /// @notice Block timestamp at which the last pause ended, in Unix seconds; zero when there was none.
    uint256 public resumedAt;

    /// @notice What waits for an identity because the registry did not tell whom to pay, in USDC base units. `totalClaimable`
    /// includes it.
    mapping(uint256 agentId => uint256) public claimableByAgent;

    mapping(address payer => mapping(bytes32 nonce => uint256)) private _records;

    /// @param admin The first admin of the roles, not zero
    /// @param adminDelay Seconds between the two steps of an admin transfer
    /// @param addresses Knows the address of the treasury
    /// @param identities The ERC-8004 registry whose identities buyers and reviewers are
    /// @param token USDC
    /// @param window Seconds from a purchase to the end of its window
    /// @param fallbackDelay Seconds from the end of the window until anyone may settle
    constructor(
        address admin,
        uint48 adminDelay,
        AddressRegistry addresses,
        IIdentityRegistry identities,
        IUSDC token,
        uint256 window,
        uint256 fallbackDelay
    ) Roles(admin, adminDelay) Payouts(token) {
        ADDRESSES = addresses;
        IDENTITIES = identities;
        WINDOW = window;
        FALLBACK_DELAY = fallbackDelay;
    }

    // ---- deposit

    /// @notice Records a purchase. The depositor has already sent `terms.heldBack + terms.cashback + fee`; this checks that the
    /// money is here. Only the depositor (the split router) may call it.
    /// @param terms All but `escrowId` and `windowEnd`, which are assigned here
    /// @param price What the buyer paid, in USDC base units; published in the event only
    /// @param commission The whole commission, in USDC base units; published in the event only
    /// @param fee The platform's part of the commission, in USDC base units
    /// @return escrowId Id of the new escrow
    function deposit(Terms memory terms, uint256 price, uint256 commission, uint256 fee)
        external
        onlyRole(DEPOSITOR_ROLE)
        whenNotPaused
        returns (uint256 escrowId)
    {
        uint256 existing = _records[terms.payer][terms.nonce];
        if (existing != 0) revert PaymentAlreadySplit(terms.payer, terms.nonce, _idOf(existing));

        // The balance is read before the sums: they share one storage word, which is then loaded once.
        uint256 balance = TOKEN.balanceOf(address(this));
        uint64 held = totalHeld + (terms.heldBack + terms.cashback).toUint64();
        uint64 owedFees = fees + fee.toUint64();
        uint256 owing = uint256(held) + owedFees + totalClaimable;
        if (balance < owing) revert Underfunded(owing, balance);

        unchecked {
            // 2^48 purchases would take more gas than any chain will ever process.
            escrowId = lastEscrowId + 1;
        }
        lastEscrowId = uint48(escrowId);
        totalHeld = held;
        fees = owedFees;
        terms.escrowId = escrowId;
        terms.windowEnd = block.timestamp + WINDOW;
        _records[terms.payer][terms.nonce] = _record(terms, terms.buyerAgentId == AGENTLESS ? 0 : BOUND);

        emit EscrowDeposited(
            escrowId,
            terms.reviewerAgentId,
            terms.buyerAgentId,
            terms.payer,
            terms.nonce,
            terms.merchantId,
            terms.productId,
            terms.reviewId,
            price,
            commission,
            fee,
            terms.heldBack,
            terms.cashback,
            terms.windowEnd
        );
    }

    // ---- the buyer

    /// @notice Names the agent behind a purchase that a wallet made without one. Possible once, by the wallet that paid, before
    /// settlement.
    /// @param terms The escrow's present terms, from `EscrowDeposited` and `EscrowBound`
    /// @param agentId An agent that the caller owns
    function bind(Terms memory terms, uint256 agentId) external whenNotPaused {
        uint256 record = _requireUnsettled(terms.payer, terms.nonce, terms.escrowId);
        if (record & BOUND != 0) revert AlreadyBound(terms.escrowId);
        _requireDigest(record, terms);
        if (msg.sender != terms.payer) revert NotBuyerWallet(msg.sender, terms.payer);
        if (IDENTITIES.findOwner(agentId) != msg.sender) revert NotAgentController(msg.sender, agentId);
        terms.buyerAgentId = agentId;
        _records[terms.payer][terms.nonce] = _record(terms, BOUND);
        emit EscrowBound(terms.escrowId, agentId, msg.sender);
    }

    // ---- the oracle

    /// @notice Pays the buyer the cashback as soon as it is earned. Only the oracle may call it.
    /// @param terms The escrow's present terms, from `EscrowDeposited` and `EscrowBound`
    function releaseCashback(Terms calldata terms) external onlyRole(ORACLE_ROLE) whenNotPaused {
        _release(terms);
    }

    /// @notice Releases the cashback of many escrows; each succeeds or fails independently. Each emits `CashbackReleased` or
    /// `EscrowSkipped`. Only the oracle may call it.
    /// @param escrows The present terms of each escrow
    function releaseBatch(Terms[] calldata escrows) external onlyRole(ORACLE_ROLE) whenNotPaused {
        for (uint256 i = 0; i < escrows.length; ++i) {
            _requireGas();
            try this.releaseOne{gas: GAS_PER_ESCROW}(escrows[i]) {}
            catch (bytes memory reason) {
                _skip(escrows[i], reason);
            }
        }
    }

    /// @notice Releases one escrow of `releaseBatch`. Only this contract may call it.
    /// @param terms The escrow's present terms, from `EscrowDeposited` and `EscrowBound`
    function releaseOne(Terms calldata terms) external {
        if (msg.sender != address(this)) revert OnlySelf(msg.sender);
        _release(terms);
    }

    /// @notice Settles an escrow once its window has ended. Only the oracle may call it.
    /// @param terms The escrow's present terms, from `EscrowDeposited` and `EscrowBound`
    /// @param contradicted Whether the buyers contradicted the review: if so, the held-back part goes to the treasury, else to
    /// the reviewer
    /// @param cashbackEarned Whether the buyer earned the cashback: if so, it goes to the wallet that paid, else to the
    /// reviewer
    function settle(Terms calldata terms, bool contradicted, bool cashbackEarned)
        external
        onlyRole(ORACLE_ROLE)
        whenNotPaused
    {
        _settleDue(terms, contradicted, cashbackEarned, msg.sender);
    }

    /// @notice Settles many escrows; each succeeds or fails independently. Each emits `EscrowSettled` or `EscrowSkipped`. Only
    /// the oracle may call it.
    /// @param escrows The present terms of each escrow and the decision about it
    function settleBatch(Settlement[] calldata escrows) external onlyRole(ORACLE_ROLE) whenNotPaused {
        for (uint256 i = 0; i < escrows.length; ++i) {
            _requireGas();
            try this.settleOne{gas: GAS_PER_ESCROW}(escrows[i], msg.sender) {}
            catch (bytes memory reason) {
                _skip(escrows[i].terms, reason);
            }
        }
    }

    /// @notice Settles one escrow of `settleBatch`. Only this contract may call it.
    /// @param settlement The present terms of the escrow and the decision about it
    /// @param settledBy The oracle that called `settleBatch`, for the event
    function settleOne(Settlement calldata settlement, address settledBy) external {
        if (msg.sender != address(this)) revert OnlySelf(msg.sender);
        _settleDue(settlement.terms, settlement.contradicted, settlement.cashbackEarned, settledBy);
    }

    // ---- anyone

    /// @notice Settles an escrow that the oracle did not settle in time: the held-back part goes to the treasury, the cashback
    /// to the reviewer. Anyone may call it.
    /// @param terms The escrow's present terms, from `EscrowDeposited` and `EscrowBound`
    function settleFallback(Terms calldata terms) external whenNotPaused {
        uint256 record = _requireOpen(terms);
        uint256 availableAt = Math.max(terms.windowEnd, resumedAt) + FALLBACK_DELAY;
        if (block.timestamp < availableAt) revert FallbackTooEarly(availableAt, block.timestamp);
        _settle(terms, record, true, false, msg.sender, true);
    }

    /// @notice Pays an identity what waits for it, to whomever the registry names now. Anyone may call it; while the registry does
    /// not tell wallets, only the owner, who is then paid.
    /// @param agentId Id of the identity
    /// @return amount What was paid, in USDC base units, never zero
    function claimForAgent(uint256 agentId) external returns (uint256 amount) {
        amount = claimableByAgent[agentId];
        if (amount == 0) revert NothingToClaimForAgent(agentId);
        (bool readable, address payee) = IDENTITIES.readPayee(agentId);
        // The owner could have named any wallet, so it may decide; that others decide for it could cost a wallet its money.
        if (!readable && IDENTITIES.findOwner(agentId) == msg.sender) payee = msg.sender;
        if (payee == address(0)) revert AgentNotPayable(agentId);
        claimableByAgent[agentId] = 0;
        totalClaimable -= amount.toUint64();
        emit AgentPayoutClaimed(agentId, payee, amount);
        _pay(payee, amount);
    }

    /// @notice Sends the collected fees to the treasury. Anyone may call it.
    /// @return amount The fees that were sent, in USDC base units; zero when there were none
    function collectFees() external returns (uint256 amount) {
        amount = fees;
        if (amount == 0) return 0;
        fees = 0;
        address treasury = _treasury();
        emit FeesCollected(treasury, amount);
        _pay(treasury, amount);
    }

    // ---- the guardian

    /// @notice Stops deposits, binds, releases and settlements. Deferred payouts can still be claimed. Only the guardian may
    /// call it.
    function pause() external onlyRole(GUARDIAN_ROLE) {
        _pause();
    }

    /// @notice Ends a pause. The oracle then has the whole fallback delay again, so that nobody loses held-back money to a long
    /// pause. Only the guardian may call it.
    function unpause() external onlyRole(GUARDIAN_ROLE) {
        resumedAt = block.timestamp;
        _unpause();
    }

    // ---- reading

    /// @notice The escrow of a payment.
    /// @param payer The wallet that paid
    /// @param nonce The payment's nonce
    /// @return escrowId Id of the escrow; zero when the payment was never split
    /// @return state Where the escrow stands
    /// @return bound Whether it has a buying agent
    /// @return cashbackReleased Whether the buyer got the cashback before settlement
    function escrowOf(address payer, bytes32 nonce)
        external
        view
        returns (uint256 escrowId, State state, bool bound, bool cashbackReleased)
    {
        uint256 record = _records[payer][nonce];
        if (record == 0) return (0, State.None, false, false);
        return (
            _idOf(record),
            record & SETTLED == 0 ? State.Holding : State.Settled,
            record & BOUND != 0,
            record & CASHBACK_RELEASED != 0
        );
    }

    /// @notice Whether the identity registry now tells, for each of these identities, whom to pay or that there is nobody. The oracle
    /// asks before it settles: what it settles otherwise waits in `claimableByAgent`.
    /// @param agentIds Ids of the identities
    /// @return answers One for each id
    function areReadable(uint256[] calldata agentIds) external view returns (bool[] memory answers) {
        answers = new bool[](agentIds.length);
        for (uint256 i = 0; i < agentIds.length; ++i) (answers[i],) = IDENTITIES.readPayee(agentIds[i]);
    }

    /// @notice All that this contract owes: open escrows, fees and deferred payouts. Its balance is never less.
    /// @return The sum, in USDC base units
    function owed() public view returns (uint256) {
        return uint256(totalHeld) + fees + totalClaimable;
    }

    /// @notice Reverts unless these are the present terms of an escrow, settled or not.
    /// @param terms The terms to check
    function requireTerms(Terms calldata terms) external view {
        _requireDigest(_requireRecord(terms.payer, terms.nonce, terms.escrowId), terms);
    }

    // ---- internal

    function _release(Terms calldata terms) private {
        uint256 record = _requireOpen(terms);
        if (record & CASHBACK_RELEASED != 0) revert CashbackAlreadyReleased(terms.escrowId);
        if (record & BOUND == 0) revert NotBound(terms.escrowId);
        _records[terms.payer][terms.nonce] = record | CASHBACK_RELEASED;
        totalHeld -= terms.cashback.toUint64();
        emit CashbackReleased(terms.escrowId, terms.payer, terms.cashback);
        _pay(terms.payer, terms.cashback);
    }

    function _settleDue(Terms calldata terms, bool contradicted, bool cashbackEarned, address settledBy) private {
        uint256 record = _requireOpen(terms);
        if (block.timestamp < terms.windowEnd) revert WindowOpen(terms.windowEnd, block.timestamp);
        if (cashbackEarned && record & BOUND == 0) revert NotBound(terms.escrowId);
        _settle(terms, record, contradicted, cashbackEarned, settledBy, false);
    }

    function _settle(
        Terms calldata terms,
        uint256 record,
        bool contradicted,
        bool cashbackEarned,
        address settledBy,
        bool fallbackUsed
    ) private {
        _records[terms.payer][terms.nonce] = record | SETTLED;
        uint256 cashback = record & CASHBACK_RELEASED == 0 ? terms.cashback : 0;
        totalHeld -= (terms.heldBack + cashback).toUint64();

        emit EscrowSettled(
            terms.escrowId,
            settledBy,
            fallbackUsed,
            contradicted ? 0 : terms.heldBack,
            contradicted ? terms.heldBack : 0,
            cashbackEarned ? cashback : 0,
            cashbackEarned ? 0 : cashback
        );
        if (contradicted) _pay(_treasury(), terms.heldBack);
        if (cashbackEarned) _pay(terms.payer, cashback);
        _payAgent(terms.reviewerAgentId, (contradicted ? 0 : terms.heldBack) + (cashbackEarned ? 0 : cashback));
    }

    /// @dev Pays now, or credits the identity if the registry does not tell whom to pay: nobody else's word or money stands in.
    function _payAgent(uint256 agentId, uint256 amount) private {
        if (amount == 0) return;
        (, address payee) = IDENTITIES.readPayee(agentId);
        if (payee != address(0)) return _pay(payee, amount);
        claimableByAgent[agentId] += amount;
        totalClaimable += amount.toUint64();
        emit AgentPayoutDeferred(agentId, amount);
    }

    function _skip(Terms calldata terms, bytes memory reason) private {
        emit EscrowSkipped(terms.escrowId, terms.payer, terms.nonce, reason);
    }

    /// @dev A call gets at most 63/64 of the gas that is left: without this check, a caller who sends too little gas could make
    /// valid escrows fail.
    function _requireGas() private view {
        uint256 needed = GAS_PER_ESCROW + GAS_PER_ESCROW / 32;
        if (gasleft() < needed) revert NotEnoughGas(gasleft(), needed);
    }

    function _treasury() private view returns (address) {
        return ADDRESSES.getAddress(AddressKeys.TREASURY);
    }

    /// @dev The checks that need only the record come first: a caller with outdated terms then learns why they are outdated.
    function _requireOpen(Terms calldata terms) private view returns (uint256 record) {
        record = _requireUnsettled(terms.payer, terms.nonce, terms.escrowId);
        _requireDigest(record, terms);
    }

    function _requireUnsettled(address payer, bytes32 nonce, uint256 escrowId) private view returns (uint256 record) {
        record = _requireRecord(payer, nonce, escrowId);
        if (record & SETTLED != 0) revert AlreadySettled(escrowId);
    }

    function _requireRecord(address payer, bytes32 nonce, uint256 escrowId) private view returns (uint256 record) {
        record = _records[payer][nonce];
        if (record == 0) revert NoEscrow(escrowId);
    }

    function _requireDigest(uint256 record, Terms memory terms) private pure {
        if (record & DIGEST_MASK != _digest(terms)) revert TermsMismatch(terms.escrowId);
    }

    function _record(Terms memory terms, uint256 flags) private pure returns (uint256) {
        return _digest(terms) | (terms.escrowId << FLAGS_BITS) | flags;
    }

    function _digest(Terms memory terms) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(terms))) & DIGEST_MASK;
    }

    function _idOf(uint256 record) private pure returns (uint256) {
        return (record & ~DIGEST_MASK) >> FLAGS_BITS;
    }
}
