// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Vm} from "forge-std/Vm.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {IUSDC} from "../../src/interfaces/IUSDC.sol";
import {EscrowTest} from "./EscrowTest.sol";

/// @notice A token that does what it was told when it pays one account, and pays everybody else.
contract HostileToken {
    enum Mood {
        Burn,
        Refuse,
        CallBack
    }

    mapping(address account => uint256) public balanceOf;
    address private _victim;
    Mood private _mood;
    address private _target;
    bytes private _call;
    /// @notice Whether the call back succeeded.
    bool public gotThrough;

    function mint(address account, uint256 amount) external {
        balanceOf[account] += amount;
    }

    function turnAgainst(address victim, Mood mood, address target, bytes calldata call) external {
        (_victim, _mood, _target, _call) = (victim, mood, target, call);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (to == _victim) {
            if (_mood == Mood.Burn) while (true) {}
            if (_mood == Mood.Refuse) revert("refused");
            (bool ok,) = _target.call(_call);
            gotThrough = gotThrough || ok;
        }
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

/// @notice An identity registry that burns whatever it is given to answer.
contract GreedyRegistry {
    fallback() external {
        while (true) {}
    }
}

/// @notice Batches of escrows: what both kinds share.
abstract contract BatchTest is EscrowTest {
    /// @dev What must be left before each escrow of a batch.
    uint256 internal constant GAS_NEEDED = 330_000;

    function expectSkipped(CommissionEscrow.Terms memory terms, bytes memory reason) internal {
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.EscrowSkipped(terms.escrowId, terms.payer, terms.nonce, reason);
    }

    /// @dev Escrows in every state: open for long, bound, without an agent, released, settled, and one whose window is open.
    function assortment() internal returns (CommissionEscrow.Terms[] memory pool) {
        pool = new CommissionEscrow.Terms[](6);
        for (uint256 i = 0; i < 5; ++i) pool[i] = i == 2 ? buyAgentless() : buy();
        releaseCashback(pool[3]);
        vm.warp(pool[0].windowEnd);
        settleEscrow(pool[4], false, true);
        pool[5] = buy();
    }

    /// @dev The reasons of `EscrowSkipped`, in order, since `vm.recordLogs()`.
    function skipped() internal returns (bytes[] memory reasons) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        reasons = new bytes[](logs.length);
        uint256 count;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != ICommissionEscrowEvents.EscrowSkipped.selector) continue;
            reasons[count++] = abi.decode(logs[i].data, (bytes));
        }
        assembly {
            mstore(reasons, count)
        }
    }

    /// @dev Everything that an escrow's life changes, in one word.
    function worldOf(CommissionEscrow.Terms[] memory pool) internal view returns (bytes32) {
        bytes memory all = abi.encode(
            usdc.balanceOf(buyer.addr),
            usdc.balanceOf(walletBuyer.addr),
            usdc.balanceOf(reviewer.addr),
            usdc.balanceOf(treasury),
            usdc.balanceOf(address(escrow)),
            escrow.totalHeld(),
            escrow.totalClaimable()
        );
        for (uint256 i = 0; i < pool.length; ++i) {
            (uint256 id, CommissionEscrow.State state, bool bound, bool released) =
                escrow.escrowOf(pool[i].payer, pool[i].nonce);
            all = bytes.concat(all, abi.encode(id, state, bound, released));
        }
        return keccak256(all);
    }

    /// @dev An escrow contract on a hostile token, with one escrow of each payer. All are due at `block.timestamp`.
    function hostileEscrow(address[] memory from)
        internal
        returns (HostileToken token, CommissionEscrow.Terms[] memory pool)
    {
        token = new HostileToken();
        escrow = CommissionEscrow(
            deploy(
                "CommissionEscrow.sol:CommissionEscrow",
                abi.encode(admin, ADMIN_DELAY, addresses, identities, IUSDC(address(token)), 60 days, 10 days)
            )
        );
        vm.startPrank(admin);
        escrow.grantRole(escrow.DEPOSITOR_ROLE(), address(this));
        escrow.grantRole(escrow.ORACLE_ROLE(), oracle);
        vm.stopPrank();
        pool = new CommissionEscrow.Terms[](from.length);
        for (uint256 i = 0; i < from.length; ++i) {
            pool[i] = CommissionEscrow.Terms({
                escrowId: i + 1,
                payer: from[i],
                nonce: bytes32(i),
                merchantId: merchantId,
                productId: PRODUCT,
                reviewId: reviewId,
                reviewerAgentId: reviewerAgentId,
                buyerAgentId: buyerAgentId,
                heldBack: HELD_BACK,
                cashback: CASHBACK,
                windowEnd: block.timestamp + 60 days
            });
            token.mint(address(escrow), HELD_BACK + CASHBACK);
            escrow.deposit(pool[i], PRICE, COMMISSION, 0);
        }
        vm.warp(pool[0].windowEnd);
    }

    function payers() internal view returns (address[] memory list) {
        list = new address[](3);
        (list[0], list[1], list[2]) = (buyer.addr, stranger, walletBuyer.addr);
    }

    /// @dev The two words after an error's selector.
    function decodePair(bytes memory reason) internal pure returns (uint256 first, uint256 second) {
        assembly {
            first := mload(add(reason, 0x24))
            second := mload(add(reason, 0x44))
        }
    }
}
