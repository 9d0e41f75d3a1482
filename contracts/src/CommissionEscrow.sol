// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {AddressRegistry} from "./AddressRegistry.sol";
import {Payouts} from "./base/Payouts.sol";
import {Roles} from "./base/Roles.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {AddressKeys} from "./libraries/AddressKeys.sol";
import {Identities} from "./libraries/Identities.sol";

/// @title Money that waits for the truth about a review
/// @notice Every purchase leaves an escrow here: the part of the reviewer's commission that is held back, and the cashback that the buyer
/// can earn. The oracle settles it once the window has ended; if the oracle stays silent, anyone can, a while later.
/// @dev An escrow is one storage word: a digest of its terms, its id and its flags. Whoever acts on an escrow brings the terms, which
/// `EscrowDeposited` (and `EscrowBound`) published. The word is keyed by the payer and the payment's nonce, so that the set of escrows
/// is at the same time the set of payments that were ever split: no payment can be split twice.
contract CommissionEscrow is Roles, Payouts, Pausable {
    using Identities for IIdentityRegistry;
    using SafeCast for uint256;

    /// @param escrowId Counts from 1
    /// @param payer The wallet that paid; cashback goes there
    /// @param nonce The payment's nonce, unique per payer
    /// @param merchantId Who sold
    /// @param productId What was sold
    /// @param reviewId The review whose link led to the purchase
    /// @param reviewerAgentId Who wrote it
    /// @param buyerAgentId Who bought; `AGENTLESS` when the wallet bought for itself and has not bound an agent yet
    /// @param heldBack The reviewer's part that waits
    /// @param cashback The buyer's part that waits
    /// @param windowEnd When the oracle may settle
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

    /// @param terms The escrow's
    /// @param contradicted Whether the buyers contradicted the review
    /// @param cashbackEarned Whether the buyer earned the cashback
    struct Settlement {
        Terms terms;
        bool contradicted;
        bool cashbackEarned;
    }

    /// @notice Where an escrow stands.
    enum State {
        None,
        Holding,
        Settled
    }

    /// @notice The buyer id of a purchase that no agent made. Agent 0 is a real agent.
    uint256 public constant AGENTLESS = Identities.AGENTLESS;

    /// @dev What one escrow of a batch may use. Several times what it needs, and what it costs at most when the token or the identity
    /// registry burns all it gets.
    uint256 private constant GAS_PER_ESCROW = 320_000;

    uint256 private constant SETTLED = 1;
    uint256 private constant CASHBACK_RELEASED = 2;
    uint256 private constant BOUND = 4;
    uint256 private constant FLAGS_BITS = 8;
    uint256 private constant ID_BITS = 48;
    /// @dev 200 bits of digest remain: finding two terms that share one takes 2^100 tries.
    uint256 private constant DIGEST_MASK = ~((uint256(1) << (FLAGS_BITS + ID_BITS)) - 1);

    AddressRegistry public immutable ADDRESSES;
    IIdentityRegistry public immutable IDENTITIES;
    /// @notice Seconds from purchase to the end of the window.
    uint256 public immutable WINDOW;
    /// @notice Seconds from the end of the window until anyone may settle.
    uint256 public immutable FALLBACK_DELAY;

    /// @notice The id of the newest escrow.
    uint48 public lastEscrowId;
    /// @notice What all unsettled escrows hold together.
    uint64 public totalHeld;
    /// @notice The platform's fees that nobody has collected for the treasury yet.
    uint64 public fees;

    /// @notice When the last pause ended.
    uint256 public resumedAt;

    mapping(address payer => mapping(bytes32 nonce => uint256)) private _records;

    /// @notice A purchase was split; its escrow holds `heldBack` and `cashback`.
    /// @dev The reviewer got `commission - fee - heldBack - cashback` at once, the merchant `price - commission`.
    event EscrowDeposited(
        uint256 indexed escrowId,
        uint256 indexed reviewerAgentId,
        uint256 indexed buyerAgentId,
        address payer,
        bytes32 nonce,
        uint256 merchantId,
        bytes32 productId,
        uint256 reviewId,
        uint256 price,
        uint256 commission,
        uint256 fee,
        uint256 heldBack,
        uint256 cashback,
        uint256 windowEnd
    );
    /// @notice The wallet that paid named its agent: from here on the terms carry that agent as the buyer.
    event EscrowBound(uint256 indexed escrowId, uint256 indexed agentId, address indexed boundBy);
    /// @notice The buyer earned the cashback and got it before settlement.
    event CashbackReleased(uint256 indexed escrowId, address indexed payer, uint256 amount);
    /// @notice The escrow is settled for good. Cashback that was released before is not in the amounts.
    event EscrowSettled(
        uint256 indexed escrowId,
        address indexed settledBy,
        bool fallbackUsed,
        uint256 heldBackToReviewer,
        uint256 heldBackToTreasury,
        uint256 cashbackToBuyer,
        uint256 cashbackToReviewer
    );

    /// @notice An escrow of a batch was left as it was; the others are not affected.
    /// @param reason The error, as `settle` or `releaseCashback` would have reverted with; empty when it ran out of its gas
    event EscrowSkipped(uint256 indexed escrowId, address indexed payer, bytes32 indexed nonce, bytes reason);

    /// @notice Fees went to the treasury.
    event FeesCollected(address indexed treasury, uint256 amount);

    error NoEscrow(uint256 escrowId);
    error TermsMismatch(uint256 escrowId);
    error PaymentAlreadySplit(address payer, bytes32 nonce, uint256 escrowId);
    error Underfunded(uint256 owed, uint256 balance);
    error NotBuyerWallet(address caller, address payer);
    error NotAgentController(address caller, uint256 agentId);
    error AlreadyBound(uint256 escrowId);
    error AlreadySettled(uint256 escrowId);
    error CashbackAlreadyReleased(uint256 escrowId);
    error NotBound(uint256 escrowId);
    error WindowOpen(uint256 windowEnd, uint256 timestamp);
    error FallbackTooEarly(uint256 availableAt, uint256 timestamp);
    error NotEnoughGas(uint256 available, uint256 needed);
    error OnlySelf(address caller);

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

    /// @notice Records a purchase. The depositor has sent `terms.heldBack + terms.cashback + fee` before; this checks that it is here.
    /// @param terms All but `escrowId` and `windowEnd`, which are given here
    /// @param price What the buyer paid, for the record
    /// @param commission The whole commission, for the record
    /// @param fee The platform's part of it
    function deposit(Terms memory terms, uint256 price, uint256 commission, uint256 fee)
        external
        onlyRole(DEPOSITOR_ROLE)
        whenNotPaused
        returns (uint256 escrowId)
    {
        uint256 existing = _records[terms.payer][terms.nonce];
        if (existing != 0) revert PaymentAlreadySplit(terms.payer, terms.nonce, _idOf(existing));

        // Before the sums are read: they share one word, which is then loaded once.
        uint256 balance = TOKEN.balanceOf(address(this));
        uint64 held = totalHeld + (terms.heldBack + terms.cashback).toUint64();
        uint64 owedFees = fees + fee.toUint64();
        uint256 owing = uint256(held) + owedFees + totalClaimable;
        if (balance < owing) revert Underfunded(owing, balance);

        unchecked {
            // 2^48 purchases would take more gas than there will ever be.
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

    /// @notice Names the agent behind a purchase that a wallet made for itself. Once, and only before settlement.
    /// @param agentId An agent that the caller, the wallet that paid, owns
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

    /// @notice Pays the buyer the cashback as soon as it is earned.
    function releaseCashback(Terms calldata terms) external onlyRole(ORACLE_ROLE) whenNotPaused {
        _release(terms);
    }

    /// @notice Releases the cashback of many escrows; each alone succeeds or fails. Look for `CashbackReleased` or `EscrowSkipped` for each.
    function releaseBatch(Terms[] calldata escrows) external onlyRole(ORACLE_ROLE) whenNotPaused {
        for (uint256 i = 0; i < escrows.length; ++i) {
            _requireGas();
            try this.releaseOne{gas: GAS_PER_ESCROW}(escrows[i]) {}
            catch (bytes memory reason) {
                _skip(escrows[i], reason);
            }
        }
    }

    /// @notice One escrow of `releaseBatch`. Only this contract calls it.
    function releaseOne(Terms calldata terms) external {
        if (msg.sender != address(this)) revert OnlySelf(msg.sender);
        _release(terms);
    }

    /// @notice Settles an escrow once its window has ended.
    /// @param contradicted Whether the buyers contradicted the review: then the held-back part goes to the treasury
    /// @param cashbackEarned Whether the buyer earned the cashback: otherwise it goes to the reviewer
    function settle(Terms calldata terms, bool contradicted, bool cashbackEarned)
        external
        onlyRole(ORACLE_ROLE)
        whenNotPaused
    {
        _settleDue(terms, contradicted, cashbackEarned, msg.sender);
    }

    /// @notice Settles many escrows; each alone succeeds or fails. Look for `EscrowSettled` or `EscrowSkipped` for each.
    function settleBatch(Settlement[] calldata escrows) external onlyRole(ORACLE_ROLE) whenNotPaused {
        for (uint256 i = 0; i < escrows.length; ++i) {
            _requireGas();
            try this.settleOne{gas: GAS_PER_ESCROW}(escrows[i], msg.sender) {}
            catch (bytes memory reason) {
                _skip(escrows[i].terms, reason);
            }
        }
    }

    /// @notice One escrow of `settleBatch`. Only this contract calls it.
    function settleOne(Settlement calldata settlement, address settledBy) external {
        if (msg.sender != address(this)) revert OnlySelf(msg.sender);
        _settleDue(settlement.terms, settlement.contradicted, settlement.cashbackEarned, settledBy);
    }

    // ---- anyone

    /// @notice Settles an escrow that the oracle left lying: the held-back part goes to the treasury, the cashback to the reviewer.
    function settleFallback(Terms calldata terms) external whenNotPaused {
        uint256 record = _requireOpen(terms);
        uint256 availableAt = Math.max(terms.windowEnd, resumedAt) + FALLBACK_DELAY;
        if (block.timestamp < availableAt) revert FallbackTooEarly(availableAt, block.timestamp);
        _settle(terms, record, true, false, msg.sender, true);
    }

    /// @notice Sends the collected fees to the treasury.
    function collectFees() external returns (uint256 amount) {
        amount = fees;
        if (amount == 0) return 0;
        fees = 0;
        address treasury = _treasury();
        emit FeesCollected(treasury, amount);
        _pay(treasury, amount);
    }

    // ---- the guardian

    /// @notice Stops deposits, binds, releases and settlements. Deferred payouts can still be claimed.
    function pause() external onlyRole(GUARDIAN_ROLE) {
        _pause();
    }

    /// @notice Ends a pause. The oracle then has the whole fallback delay again, so that a long pause confiscates nothing.
    function unpause() external onlyRole(GUARDIAN_ROLE) {
        resumedAt = block.timestamp;
        _unpause();
    }

    // ---- reading

    /// @notice The escrow of a payment.
    /// @return escrowId Zero when the payment was never split
    /// @return state Where it stands
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

    /// @notice All that this contract owes: open escrows, fees and deferred payouts. Its balance is never less.
    function owed() public view returns (uint256) {
        return uint256(totalHeld) + fees + totalClaimable;
    }

    /// @notice Reverts unless these are the present terms of an escrow, settled or not.
    function requireTerms(Terms calldata terms) external view {
        _requireDigest(_requireRecord(terms.payer, terms.nonce, terms.escrowId), terms);
    }

    // ---- inside

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

        address treasury = _treasury();
        address reviewer = IDENTITIES.findPayee(terms.reviewerAgentId);
        // An identity that is gone leaves nobody to pay.
        if (reviewer == address(0)) reviewer = treasury;

        emit EscrowSettled(
            terms.escrowId,
            settledBy,
            fallbackUsed,
            contradicted ? 0 : terms.heldBack,
            contradicted ? terms.heldBack : 0,
            cashbackEarned ? cashback : 0,
            cashbackEarned ? 0 : cashback
        );
        _pay(contradicted ? treasury : reviewer, terms.heldBack);
        _pay(cashbackEarned ? terms.payer : reviewer, cashback);
    }

    function _skip(Terms calldata terms, bytes memory reason) private {
        emit EscrowSkipped(terms.escrowId, terms.payer, terms.nonce, reason);
    }

    /// @dev A call gets at most 63/64 of what is left: without this, a caller who sends too little gas could make good escrows be skipped.
    function _requireGas() private view {
        uint256 needed = GAS_PER_ESCROW + GAS_PER_ESCROW / 32;
        if (gasleft() < needed) revert NotEnoughGas(gasleft(), needed);
    }

    function _treasury() private view returns (address) {
        return ADDRESSES.getAddress(AddressKeys.TREASURY);
    }

    /// @dev What the record alone can refuse comes first: a caller with outdated terms then learns why they are.
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
